//! Predicated copies of every kernel of this repository: they do what the kernel does if their tests hold, and nothing
//! if one does not.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::common::{buffer, ptxas};
use graph_emulator::{Access, Allocation, Fault, FaultKind, Launch, Memory, Module, Options};
use graph_ptx::GuardForm;

const ONE: GuardForm = GuardForm::tests(1);
const TWO: GuardForm = GuardForm::tests(2);
/// Two tests, after the loads with which the kernel begins.
const LOADS_FIRST: GuardForm = GuardForm {
    loads_first: true,
    ..TWO
};
/// The same, after the end of the kernels before.
const WAITS: GuardForm = GuardForm {
    waits: true,
    ..LOADS_FIRST
};

/// The `.ptx` files in a folder and those in it.
fn texts(folder: &Path, found: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for path in entries.flatten().map(|entry| entry.path()) {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if path.is_dir() && name != "target" && !name.starts_with('.') {
            texts(&path, found);
        } else if name.ends_with(".ptx") {
            found.push(path);
        }
    }
}

/// A module with memory that its kernels may access.
struct Machine {
    data: Allocation,
    flags: Allocation,
    module: Module,
}

impl Machine {
    /// `None` if the emulator does not take the text.
    fn new(text: &str) -> Option<Self> {
        let memory = Memory::new();
        let data = memory.allocate("data", 4096).unwrap();
        let flags = memory.allocate("flags", 8).unwrap();
        data.write(0, &[1; 4096]).unwrap();
        let module = Module::load(&memory, text).ok()?;
        Some(Self { data, flags, module })
    }

    /// Launches a kernel with arguments that all point to the data and, if there are tests, one more argument.
    fn run(&self, name: &str, tests: &[u8]) -> Result<(), Fault> {
        let kernel = self.module.kernel(name).unwrap();
        let sizes = kernel.parameters().iter().map(|parameter| parameter.size);
        let mut arguments: Vec<Vec<u8>> = sizes
            .map(|size| {
                let mut bytes = self.data.address().to_le_bytes().to_vec();
                bytes.resize(size, 0);
                bytes
            })
            .collect();
        if !tests.is_empty() {
            *arguments.last_mut().unwrap() = tests.to_vec();
        }
        let arguments: Vec<&[u8]> = arguments.iter().map(Vec::as_slice).collect();
        let buffers = [
            buffer("data", &self.data, Access::ReadWrite),
            buffer("flags", &self.flags, Access::Read),
        ];
        let block = kernel.required_block().unwrap_or([40, 1, 1]);
        let launch = Launch {
            grid: [2, 1, 1],
            block,
            shared_bytes: 64,
            arguments: &arguments,
            buffers: &buffers,
            textures: &[],
            surfaces: &[],
            options: &Options {
                step_limit: Some(20_000),
                threads: Some(1),
                cluster: kernel.cluster(),
                ..Options::default()
            },
        };
        self.module.launch(name, &launch).map(|_| ())
    }

    fn data(&self) -> Vec<u8> {
        let mut bytes = vec![0; 4096];
        self.data.read(0, &mut bytes).unwrap();
        bytes
    }
}

/// The bytes of tests of the words in `flags`: each word must equal, or not equal, the number.
fn tests_of(flags: &Allocation, tests: &[(u32, bool)]) -> Vec<u8> {
    let words = tests.iter().zip(0_u64..).flat_map(|(&(number, equal), word)| {
        let address = (flags.address() + 4 * word).to_le_bytes();
        let rest = [number.to_le_bytes(), u32::from(equal).to_le_bytes()];
        address.into_iter().chain(rest.concat())
    });
    words.collect()
}

/// Whether a run of a copy, which takes more steps, may end in another way than that of the kernel.
fn is_out_of_steps(ran: &Result<(), Fault>) -> bool {
    ran.as_ref()
        .is_err_and(|fault| matches!(fault.kind, FaultKind::StepLimit { .. }))
}

/// The kind of the fault. (The copy has more parameters, so offsets in them may differ.)
fn kind(ran: &Result<(), Fault>) -> Option<std::mem::Discriminant<FaultKind>> {
    ran.as_ref().err().map(|fault| std::mem::discriminant(&fault.kind))
}

#[test]
fn copies_of_all_kernels_do_the_same_or_nothing() {
    let mut paths = Vec::new();
    texts(&Path::new(env!("CARGO_MANIFEST_DIR")).join(".."), &mut paths);
    assert!(paths.len() > 60, "{paths:?}");
    let (mut same, mut whole) = (0, 0);
    for path in paths {
        let text = fs::read_to_string(&path).unwrap();
        let what = |name: &str| format!("`{name}` of {}", path.display());
        let Some(plain) = Machine::new(&text) else { continue };
        let kernels = plain.module.kernels().filter(|kernel| kernel.refused().is_none());
        // Kernels with variables of the module in their body are not copied.
        let refusal = |name: &str| graph_ptx::predicated(&text, &[(name, ONE)]).map_err(|error| error.to_string());
        let is_own = |name: &String| refusal(name).is_err_and(|error| error.contains("variables of its module"));
        let names = kernels.map(|kernel| kernel.name().to_owned());
        let names: Vec<String> = names.filter(|name| !is_own(name)).collect();
        let all: &[GuardForm] = &[ONE, TWO, LOADS_FIRST, WAITS];
        let forms = &all[..if graph_ptx::can_wait(&text) { 4 } else { 3 }];
        let wanted: Vec<(&str, GuardForm)> = names
            .iter()
            .flat_map(|name| forms.iter().map(|guard| (name.as_str(), *guard)))
            .collect();
        let copied = match graph_ptx::predicated(&text, &wanted) {
            Ok(copied) => copied,
            Err(error) => {
                let is_meant = text.contains(".debug_info") || text.contains("graph_runtime_tests");
                assert!(is_meant, "{}: {error}", path.display());
                continue;
            }
        };
        let [runs, rests] = [(); 2].map(|()| Machine::new(&copied).unwrap());
        for name in &names {
            for flags in [&runs.flags, &rests.flags] {
                flags.write(0, &[7, 0, 0, 0, 9, 0, 0, 0]).unwrap();
            }
            let before = plain.run(name, &[]);
            if before
                .as_ref()
                .is_err_and(|fault| matches!(fault.kind, FaultKind::InvalidLaunch(_)))
            {
                continue; // a block of other sizes
            }
            let held = [&[(7, true)][..], &[(7, true), (0, false)]];
            // The first copy runs on the same data as the kernel, the second one not at all.
            let ran = runs.run(&graph_ptx::predicated_name(name, ONE), &tests_of(&runs.flags, held[0]));
            if is_out_of_steps(&before)
                || is_out_of_steps(&ran)
                || ["%clock", "%globaltimer"].iter().any(|clock| text.contains(clock))
            {
                whole += 1;
                break; // the data may differ from here on
            }
            assert_eq!(kind(&before), kind(&ran), "{}", what(name));
            assert!(plain.data() == runs.data(), "{}", what(name));
            same += 1;

            let untouched = rests.data();
            for (tests, copy) in [
                (&[(7, false)][..], ONE),
                (&[(8, true)], ONE),
                (&[(7, true), (9, false)], TWO),
                (&[(0, true), (9, true)], TWO),
            ] {
                let rested = rests.run(&graph_ptx::predicated_name(name, copy), &tests_of(&rests.flags, tests));
                assert!(rested.is_ok(), "{}: {rested:?}", what(name));
                assert!(rests.data() == untouched, "{}", what(name));
            }
            // A copy that loads first faults where the kernel does, even if it rests.
            let rested = rests.run(
                &graph_ptx::predicated_name(name, LOADS_FIRST),
                &tests_of(&rests.flags, &[(0, true), (9, true)]),
            );
            assert!(rested.is_ok() || before.is_err(), "{}: {rested:?}", what(name));
            assert!(rests.data() == untouched, "{}", what(name));
            for &guard in &forms[1..] {
                let both = runs.run(
                    &graph_ptx::predicated_name(name, guard),
                    &tests_of(&runs.flags, held[1]),
                );
                let again = plain.run(name, &[]);
                assert_eq!(kind(&again), kind(&both), "{}, {guard:?}", what(name));
                assert!(plain.data() == runs.data(), "{}, {guard:?}", what(name));
            }
        }
    }
    assert!(same > 300, "{same} kernels, {whole} modules were left");
}

/// A text with copies of all its kernels is as good as the text. (On one text that is written by hand, `ptxas` 12.4
/// itself crashes.)
#[test]
fn ptxas_takes_copies_of_all_kernels() {
    let Some(ptxas) = ptxas() else {
        return eprintln!("ptxas was not fetched: `cargo xtask ptxas` does");
    };
    let folder = std::env::temp_dir().join(format!("graph-emulator-predicates-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    let takes = |text: &str, target: &str| {
        fs::write(folder.join("k.ptx"), text).unwrap();
        let mut command = Command::new(&ptxas);
        command.args(["--compile-only", "--output-file=/dev/null"]);
        command.arg(format!("--gpu-name={target}")).arg(folder.join("k.ptx"));
        let output = command.output().unwrap();
        let message = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
        if output.status.success() { Ok(()) } else { Err(message) }
    };
    let mut paths = Vec::new();
    texts(&Path::new(env!("CARGO_MANIFEST_DIR")).join(".."), &mut paths);
    let mut taken = 0;
    for path in paths {
        let text = fs::read_to_string(&path).unwrap();
        let Ok(module) = graph_ptx::parse(&text) else { continue };
        let kernels = module
            .functions
            .iter()
            .filter(|function| function.entry && function.body.is_some());
        let waits = graph_ptx::can_wait(&text).then_some(WAITS);
        let forms = [ONE, GuardForm::tests(3), LOADS_FIRST].into_iter().chain(waits);
        let names: Vec<(&str, GuardForm)> = kernels
            .flat_map(|kernel| forms.clone().map(|guard| (kernel.name.as_str(), guard)))
            .collect();
        let Ok(copied) = graph_ptx::predicated(&text, &names) else {
            continue;
        };
        if path.ends_with("graph-emulator/tests/kernels/checks.ptx") {
            continue;
        }
        let target = graph_ptx::parse(&copied).unwrap().target;
        match takes(&copied, &target) {
            Ok(()) if !names.is_empty() => taken += 1,
            // Newer PTX, and texts that are wrong on purpose.
            verdict => assert!(
                verdict.is_ok() || takes(&text, &module.target).is_err(),
                "{}: {verdict:?}",
                path.display()
            ),
        }
    }
    fs::remove_dir_all(&folder).unwrap();
    assert!(taken > 50, "{taken}");
}
