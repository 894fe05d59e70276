//! External functions that the emulator provides: `vprintf`, `__assertfail`, `malloc`, `free` and
//! `cudaGraphSetConditional`.

use std::sync::PoisonError;

use super::Environment;
use crate::code::{Builtin, Call, Position, Space, Special};
use crate::fault::{FaultKind, InLane, LaneFault};
use crate::state::context::Conditional;
use crate::state::{Warp, lanes};

/// The longest text that is read, in bytes.
const MAX_TEXT: u64 = 64 * 1024;

impl Warp {
    /// Runs a function that the emulator provides in each lane.
    pub(crate) fn builtin(
        &mut self,
        builtin: Builtin,
        call: &Call,
        mask: u32,
        env: &Environment<'_>,
    ) -> Result<(), LaneFault> {
        for lane in lanes(mask) {
            let result = match builtin {
                Builtin::Vprintf => self.vprintf(call, lane, env),
                Builtin::AssertFail => self.assert_fail(call, lane, env),
                Builtin::Malloc => {
                    let bytes = self.argument(call, lane, 0);
                    Ok(env.context.heap.map_or(0, |heap| heap.allocate(bytes)))
                }
                Builtin::Free => {
                    let address = self.argument(call, lane, 0);
                    let freed = address == 0 || env.context.heap.is_some_and(|heap| heap.free(address));
                    freed.then_some(0).ok_or(FaultKind::InvalidFree(address))
                }
                Builtin::SetConditional => {
                    self.set_conditional(call, lane, env);
                    Ok(0)
                }
            };
            let value = result.in_lane(lane)?;
            if let Some(&result) = call.results.first() {
                self.put(result, lane, value);
            }
        }
        Ok(())
    }

    /// An argument of a call: an integer or a pointer.
    fn argument(&self, call: &Call, lane: usize, index: usize) -> u64 {
        call.arguments
            .get(index)
            .map_or(0, |&argument| self.passed(argument)[lane])
    }

    /// `cudaGraphSetConditional(handle, value)`: noted for the caller of the launch.
    fn set_conditional(&self, call: &Call, lane: usize, env: &Environment<'_>) {
        let conditional = Conditional {
            handle: self.argument(call, lane, 0),
            value: self.argument(call, lane, 1) as u32,
        };
        let block = [0, 1, 2].map(|axis| self.special(Special::Position(Position::Ctaid(axis)))[lane]);
        let mut all = env.context.conditionals.lock().unwrap_or_else(PoisonError::into_inner);
        all.push((block, conditional));
    }

    /// A zero-terminated text.
    fn text(&self, env: &Environment<'_>, lane: usize, address: u64) -> Result<String, FaultKind> {
        let mut bytes = Vec::new();
        for offset in 0..MAX_TEXT {
            match self.peek(env, lane, Space::Generic, address.wrapping_add(offset), 1)? as u8 {
                0 => break,
                byte => bytes.push(byte),
            }
        }
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    /// `__assertfail(message, file, line, function, character size)`
    fn assert_fail(&self, call: &Call, lane: usize, env: &Environment<'_>) -> Result<u64, FaultKind> {
        let text = |index| self.text(env, lane, self.argument(call, lane, index));
        let (message, file, function) = (text(0)?, text(1)?, text(3)?);
        let line = self.argument(call, lane, 2);
        Err(FaultKind::Assertion(
            format!("`{message}` in `{function}`, {file}:{line}").into(),
        ))
    }

    /// `vprintf(format, arguments)`: prints, returns the number of arguments.
    fn vprintf(&self, call: &Call, lane: usize, env: &Environment<'_>) -> Result<u64, FaultKind> {
        let format = self.text(env, lane, self.argument(call, lane, 0))?;
        let mut values = Values {
            address: self.argument(call, lane, 1),
            count: 0,
        };
        let mut output = String::new();
        let mut rest = format.as_str();
        while let Some(start) = rest.find('%') {
            output.push_str(&rest[..start]);
            let (directive, after) = Directive::parse(&rest[start + 1..]);
            output.push_str(&directive.print(self, env, lane, &mut values)?);
            rest = after;
        }
        output.push_str(rest);
        env.context.print(&output);
        Ok(values.count)
    }
}

/// The arguments of `vprintf`, each aligned to its size.
struct Values {
    address: u64,
    count: u64,
}

impl Values {
    fn next(&mut self, warp: &Warp, env: &Environment<'_>, lane: usize, bytes: u8) -> Result<u64, FaultKind> {
        let address = self.address.next_multiple_of(bytes.into());
        self.address = address + u64::from(bytes);
        self.count += 1;
        warp.peek(env, lane, Space::Generic, address, bytes)
    }
}

/// A conversion of `printf`, for example `%-8.3f`.
#[derive(Debug, Default)]
struct Directive {
    left: bool,
    zeros: bool,
    plus: bool,
    alternate: bool,
    width: usize,
    precision: Option<usize>,
    long: bool,
    conversion: char,
}

impl Directive {
    /// Parses the text after the percent sign. Returns the rest of the text too.
    fn parse(text: &str) -> (Directive, &str) {
        let mut directive = Directive::default();

        let mut in_precision = false;
        for (index, character) in text.char_indices() {
            match character {
                '-' => directive.left = true,
                '+' => directive.plus = true,
                '#' => directive.alternate = true,
                '0' if directive.width == 0 && !in_precision => directive.zeros = true,
                '.' => {
                    in_precision = true;
                    directive.precision = Some(0);
                }
                '0'..='9' => {
                    let digit = character as usize - '0' as usize;
                    let append = |number: usize| (number * 10 + digit).min(1000);
                    if in_precision {
                        directive.precision = directive.precision.map(append);
                    } else {
                        directive.width = append(directive.width);
                    }
                }
                'l' | 'j' | 'z' | 't' => directive.long = true,
                ' ' | 'h' => {}
                _ => {
                    directive.conversion = character;
                    return (directive, &text[index + character.len_utf8()..]);
                }
            }
        }
        (directive, "")
    }

    fn print(&self, warp: &Warp, env: &Environment<'_>, lane: usize, values: &mut Values) -> Result<String, FaultKind> {
        let integer = |values: &mut Values| -> Result<(u64, i64), FaultKind> {
            let value = values.next(warp, env, lane, if self.long { 8 } else { 4 })?;
            let signed = if self.long {
                value as i64
            } else {
                i64::from(value as i32)
            };
            Ok((value, signed))
        };
        let body = match self.conversion {
            'd' | 'i' => {
                let value = integer(values)?.1;
                if self.plus && value >= 0 {
                    format!("+{value}")
                } else {
                    value.to_string()
                }
            }
            'u' => integer(values)?.0.to_string(),
            'x' if self.alternate => format!("{:#x}", integer(values)?.0),
            'x' => format!("{:x}", integer(values)?.0),
            'X' => format!("{:X}", integer(values)?.0),
            'o' => format!("{:o}", integer(values)?.0),
            'c' => char::from(values.next(warp, env, lane, 4)? as u8).to_string(),
            'p' => format!("{:#x}", values.next(warp, env, lane, 8)?),
            's' => {
                let address = values.next(warp, env, lane, 8)?;
                let text = warp.text(env, lane, address)?;
                text.chars().take(self.precision.unwrap_or(usize::MAX)).collect()
            }
            'f' | 'F' | 'e' | 'E' | 'g' | 'G' | 'a' | 'A' => {
                self.float(f64::from_bits(values.next(warp, env, lane, 8)?))
            }
            '%' => "%".to_owned(),
            other => format!("%{other}"),
        };
        Ok(self.pad(body))
    }

    fn float(&self, value: f64) -> String {
        let precision = self.precision.unwrap_or(6);
        let sign = if self.plus && value >= 0.0 { "+" } else { "" };
        let body = match self.conversion {
            _ if !value.is_finite() => value.to_string().to_lowercase(),
            'f' | 'F' => format!("{value:.precision$}"),
            'e' | 'E' => exponential(value, precision),
            _ => {
                let significant = precision.max(1);
                let exponent = format!("{value:.*e}", significant - 1);
                let power: i32 = exponent
                    .rsplit('e')
                    .next()
                    .and_then(|power| power.parse().ok())
                    .unwrap_or(0);
                if power < -4 || power >= significant as i32 {
                    trim(exponential(value, significant - 1))
                } else {
                    trim(format!("{value:.*}", (significant as i32 - 1 - power).max(0) as usize))
                }
            }
        };
        format!("{sign}{body}")
    }

    fn pad(&self, body: String) -> String {
        let missing = self.width.saturating_sub(body.chars().count());
        if self.left {
            return body + &" ".repeat(missing);
        }
        if !self.zeros {
            return " ".repeat(missing) + &body;
        }
        let sign = body.len() - body.trim_start_matches(['-', '+']).len();
        let (sign, digits) = body.split_at(sign);
        format!("{sign}{}{digits}", "0".repeat(missing))
    }
}

/// `1.500000e+02`
fn exponential(value: f64, precision: usize) -> String {
    let text = format!("{value:.precision$e}");
    let (mantissa, power) = text.split_once('e').unwrap_or((&text, "0"));
    let power: i32 = power.parse().unwrap_or(0);
    let sign = if power < 0 { '-' } else { '+' };
    format!("{mantissa}e{sign}{:02}", power.unsigned_abs())
}

/// Drops the zeros that `%g` drops.
fn trim(text: String) -> String {
    let (mantissa, power) = text.find('e').map_or((text.as_str(), ""), |at| text.split_at(at));
    if !mantissa.contains('.') {
        return text;
    }
    format!("{}{power}", mantissa.trim_end_matches('0').trim_end_matches('.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directives() {
        let (directive, rest) = Directive::parse("-8.3lld!");
        assert!(directive.left && directive.long && directive.width == 8 && directive.precision == Some(3));
        assert_eq!((directive.conversion, rest), ('d', "!"));
        let float = |text: &str, value| Directive::parse(text).0.float(value);
        assert_eq!(float("f", 1.5), "1.500000");
        assert_eq!(float("g", 1.5), "1.5");
        assert_eq!(float("g", 1e-7), "1e-07");
        assert_eq!(float(".2e", 12345.0), "1.23e+04");
        assert_eq!(Directive::parse("06d").0.pad("-12".to_owned()), "-00012");
    }
}
