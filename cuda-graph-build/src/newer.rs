//! Kernels that a source declares for newer GPUs alone, `#if __CUDA_ARCH__ >= 800`: PTX for older ones lacks them, and
//! nothing else would say so.

use std::path::Path;

use crate::compiler::{Compiled, Compiler};
use crate::error::Result;
use crate::includes;
use crate::source::macros::Macros;
use crate::source::tokens::{Token, tokens};
use crate::text;

/// The architectures of GPUs that NVRTC may know, by their numbers.
const KNOWN: [u32; 17] = [50, 52, 53, 60, 61, 62, 70, 72, 75, 80, 86, 87, 89, 90, 100, 110, 120];
/// The macro that sources compare.
const ARCHITECTURE: &str = "__CUDA_ARCH__";
/// The beginning and the end of a macro that is defined for one architecture alone.
const FEATURE: (&str, &str) = ("__CUDA_ARCH_FEAT_SM", "_ALL");

/// Kernels that PTX for other GPUs has besides.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Newer {
    /// The architecture, as `80` or `90a`.
    pub(crate) architecture: String,
    pub(crate) kernels: Vec<String>,
}

impl Compiler {
    /// Finds kernels of a source that none of `compiled`, its PTX with the extension of each file, has. The source is
    /// compiled again if it asks for the architecture, and an architecture that it asks for is newer.
    pub(crate) fn newer(&mut self, source: &Path, compiled: &[(String, Compiled)]) -> Result<Vec<Newer>> {
        let text = self.read(source)?;
        let mut known: Vec<String> = compiled.iter().flat_map(|(_, one)| entries(&one.ptx)).collect();
        let newest = compiled.iter().filter_map(|(_, one)| target(&one.ptx)).max();
        let headers = includes::headers(source, &text, &self.options_of(&text));
        let headers = headers
            .iter()
            .map(|header| String::from_utf8_lossy(&header.bytes).into_owned());
        let mut asked = asked(headers.chain([text.clone()]).collect());
        asked.retain(|architecture| number(architecture) > newest);
        // The newest one that compiles has all kernels, as a rule: then the others need not be compiled.
        let mut last = None;
        while let Some(architecture) = asked.last() {
            match self.compile_as(source, &text, None, Some(architecture)) {
                Ok(compiled) => {
                    last = Some(entries(&compiled.ptx));
                    break;
                }
                Err(_) => drop(asked.pop()),
            }
        }
        let Some(all) = last else { return Ok(Vec::new()) };
        let mut found = Vec::new();
        for (index, architecture) in asked.iter().enumerate() {
            if all.iter().all(|entry| known.contains(entry)) {
                break;
            }
            let here = if index + 1 == asked.len() {
                all.clone()
            } else {
                let compiled = self.compile_as(source, &text, None, Some(architecture));
                compiled.map(|compiled| entries(&compiled.ptx)).unwrap_or_default()
            };
            let new: Vec<String> = here.into_iter().filter(|entry| !known.contains(entry)).collect();
            if !new.is_empty() {
                known.extend(new.iter().cloned());
                found.push(Newer {
                    architecture: architecture.clone(),
                    kernels: new,
                });
            }
        }
        Ok(found)
    }
}

impl Newer {
    /// The message about kernels of the source `name`, whose first lines have `options`.
    pub(crate) fn note(&self, name: &str, options: &str) -> String {
        let Self { architecture, kernels } = self;
        let shown: Vec<String> = kernels.iter().map(|kernel| format!("`{}`", plain(kernel))).collect();
        let (count, those) = match kernels.len() {
            1 => ("1 kernel".to_owned(), "it"),
            count => (format!("{count} kernels"), "them"),
        };
        let line = format!("`--gpu-architecture=compute_{architecture}` on the first line, `// cuda-graph: ..`,");
        let help = match text::has_architecture(options) {
            true => line,
            false => format!("`--arch {architecture}`, or {line}"),
        };
        format!(
            "note: {name} has {count} for GPUs from compute_{architecture} on alone, which its PTX lacks: {}\nhelp: {help} \
             compiles {those}",
            shown.join(", ")
        )
    }
}

/// The name of a function in C++, if that is a plain one: of `_Z5scalePf`, `scale`.
fn plain(entry: &str) -> &str {
    let rest = entry.strip_prefix("_Z").unwrap_or_default();
    let digits = rest.find(|char: char| !char.is_ascii_digit()).unwrap_or(0);
    let length = rest[..digits].parse().unwrap_or(0);
    let name = rest[digits..].get(..length).filter(|name| !name.is_empty());
    name.unwrap_or(entry)
}

/// The names of the kernels in PTX.
fn entries(ptx: &str) -> Vec<String> {
    let lines = ptx.lines().filter_map(|line| line.split_once(".entry "));
    let names = lines.map(|(_, name)| name.split(['(', ' ']).next().unwrap_or_default().trim());
    names.map(str::to_owned).collect()
}

/// The number of the architecture that PTX is for.
fn target(ptx: &str) -> Option<u32> {
    let line = ptx.lines().find_map(|line| line.strip_prefix(".target sm_"))?;
    number(line)
}

fn number(architecture: &str) -> Option<u32> {
    let end = architecture.find(|char: char| !char.is_ascii_digit());
    architecture[..end.unwrap_or(architecture.len())].parse().ok()
}

/// The architectures that the texts of a source and its headers ask for, in order.
fn asked(texts: Vec<String>) -> Vec<String> {
    let lines: Vec<Token> = texts
        .iter()
        .flat_map(|text| tokens(text))
        .filter(Token::is_directive)
        .collect();
    let mut macros = Macros::default();
    for line in &lines {
        macros.directive(&line.text);
    }
    let mut asked: Vec<u32> = Vec::new();
    let mut features: Vec<String> = Vec::new();
    for line in &lines {
        let words = macros.expanded(&tokens(&line.text[1..]));
        let words: Vec<&str> = words.iter().map(|token| token.text.as_str()).collect();
        let feature = |word: &&str| Some(word.strip_prefix(FEATURE.0)?.strip_suffix(FEATURE.1)?.to_owned());
        features.extend(words.iter().filter_map(feature).map(|number| number + "a"));
        if !words.contains(&ARCHITECTURE) {
            continue;
        }
        let is_past = |index: usize| index > 0 && words[index - 1] == ">";
        let numbers = words.iter().enumerate().filter_map(|(index, word)| {
            let asked: u32 = word.parse().ok().filter(|asked| *asked >= 100)?;
            let past = u32::from(is_past(index));
            KNOWN.into_iter().find(|known| known * 10 >= asked + past)
        });
        asked.extend(numbers);
    }
    asked.sort_unstable();
    let mut asked: Vec<String> = asked.iter().map(u32::to_string).chain(features).collect();
    asked.sort_by_key(|architecture| (number(architecture), architecture.len()));
    asked.dedup();
    asked
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sources_ask_for_architectures() {
        let text = "#define AMPERE 800\n#if __CUDA_ARCH__ >= AMPERE\n#elif defined(X) && __CUDA_ARCH__ > 890\n#endif\n\
                    #if (__CUDA_ARCH__ < 750) // 620\n#endif\n#ifdef __CUDA_ARCH_FEAT_SM90_ALL\n#endif\n#if N > 700\n#endif\n";
        assert_eq!(asked(vec![text.to_owned()]), ["75", "80", "90", "90a"]);
        assert_eq!(asked(vec![String::new()]), [""; 0]);
    }

    #[test]
    fn kernels_are_named() {
        let ptx = ".version 8.4\n.target sm_90a\n.visible .entry _Z5scalePf(\n.entry copy (\n.weak .entry none()\n";
        assert_eq!(entries(ptx), ["_Z5scalePf", "copy", "none"]);
        assert_eq!(target(ptx), Some(90));
        for (entry, expected) in [
            ("_Z5scalePf", "scale"),
            ("_ZN1a1bEv", "_ZN1a1bEv"),
            ("copy", "copy"),
            ("_Z99x", "_Z99x"),
            ("_Z1é", "_Z1é"),
        ] {
            assert_eq!(plain(entry), expected);
        }
    }
}
