//! A built graph in the form in which it is saved.

use crate::graph::GraphData;
use crate::kernel::KernelFacts;
use crate::kernel::source::ModuleCode;
use crate::program::{Argument, Conditional, External, KernelOp, Op, Structure, Work};
use crate::shape::part::ByteRectangle;
use graph_plan::{
    FileArgument, FileBody, FileCode, FileEdge, FileKernel, FileMemory, FileModule, FileNode, FileRows, FileWork,
    GraphFile, Memory, ParamKind, Plan, PlanNode, Role, Unsaved,
};
use std::borrow::Cow;

/// The file of a graph, or all nodes and memory that no file can have.
pub(super) fn file(data: &GraphData, plan: &Plan) -> Result<GraphFile, Vec<Unsaved>> {
    let mut saving = Saving {
        data,
        numbers: Vec::new(),
        unsaved: Vec::new(),
    };
    let memory = saving.memory();
    let nodes: Vec<FileNode> = plan
        .nodes
        .iter()
        .enumerate()
        .map(|(index, node)| saving.node(index, node))
        .collect();
    if !saving.unsaved.is_empty() {
        return Err(saving.unsaved);
    }
    let modules = data.program.modules.iter().map(|module| FileModule {
        name: module.path().into(),
        code: match module {
            ModuleCode::Ptx(ptx) => FileCode::Ptx(ptx.text.into()),
            ModuleCode::Cubin(cubin) => FileCode::Cubin(cubin.image.into()),
        },
    });
    let bodies = plan.bodies.iter().filter_map(|body| {
        Some(FileBody {
            role: body.role,
            node: body.node.filter(|_| body.role != Role::Graph)? as u32,
        })
    });
    Ok(GraphFile {
        name: plan.name.clone(),
        modules: modules.collect(),
        memory,
        bodies: bodies.collect(),
        nodes,
    })
}

struct Saving<'g> {
    data: &'g GraphData,
    /// The number in the file of each resource.
    numbers: Vec<u32>,
    unsaved: Vec<Unsaved>,
}

impl Saving<'_> {
    fn refuse(&mut self, name: &str, reason: impl Into<Cow<'static, str>>) {
        self.unsaved.push(Unsaved {
            name: name.to_owned().into(),
            reason: reason.into(),
        });
    }

    fn memory(&mut self) -> Vec<FileMemory> {
        let GraphData {
            draft,
            layouts,
            shared,
            rngs,
            variables,
            ..
        } = self.data;
        let mut all = Vec::new();
        for (resource, declared) in draft.resources.iter().enumerate() {
            self.numbers.push(all.len() as u32);
            let rng = rngs.iter().find(|rng| rng.find(resource).is_some());
            let contents = rng.map(|rng| rng.contents());
            if contents == Some(None) {
                self.refuse(
                    &declared.name,
                    "draws from a generator that graphs of this program share",
                );
            }
            match (declared.memory, layouts[resource]) {
                (Memory::Variable, _) | (_, None) => {} // whoever builds the graph finds it in the PTX
                (Memory::Array, _) => self.refuse(&declared.name, "is an array"),
                (memory, Some(layout)) => {
                    let given = shared.find(resource).is_some();
                    let symbol = variables.iter().find(|variable| variable.resource == resource);
                    all.push(FileMemory {
                        name: declared.name.clone(),
                        memory,
                        bytes: layout.bytes as u64,
                        align: if given {
                            self.alignment(resource)
                        } else {
                            layout.align as u64
                        },
                        given,
                        symbol: symbol.map_or(Cow::Borrowed(""), |variable| variable.symbol.clone()),
                        contents: contents.flatten().unwrap_or_default(),
                    });
                }
            }
        }
        all
    }

    /// The alignment that kernels need of memory that others give: that of the elements of their parameters, up to 16.
    fn alignment(&self, resource: usize) -> u64 {
        let program = &self.data.program;
        let mut align = 1;
        for kernel in program.ops.iter().filter_map(Op::kernel) {
            let facts = program.functions[kernel.function as usize].facts;
            for (index, argument) in program.arguments(kernel).iter().enumerate() {
                if argument.memory() == Some(resource) {
                    align = align.max(1 << unit(facts, index).trailing_zeros().min(4));
                }
            }
        }
        align
    }

    fn node(&mut self, index: usize, node: &PlanNode) -> FileNode {
        let program = &self.data.program;
        let work = match &program.ops[index] {
            Op::Work(Work::Kernel(kernel)) => self.kernel(&node.name, kernel),
            Op::Work(Work::Memcpy(copy)) => FileWork::Memcpy {
                from: self.rows(&copy.from),
                to: self.rows(&copy.to),
            },
            Op::Work(Work::Memset(set)) => FileWork::Memset {
                to: self.rows(&set.to),
                value: set.value.bytes().to_vec(),
            },
            Op::Work(Work::Join) => FileWork::Join,
            Op::Structure(Structure::Child(_)) => FileWork::Child,
            Op::Structure(Structure::Conditional(conditional)) => self.conditional(conditional),
            Op::External(external) => {
                let reason = match external {
                    External::Call(_) => "is a `call`, a function of this program",
                    External::Capture(_) => "is a `capture`, whose calls only this program makes",
                    External::Raw(_) => "is a `raw` node, which only this program adds",
                    External::Record(_) => "records an event, which is an object of this program",
                    External::Wait(_) => "waits for an event, which is an object of this program",
                    External::Collective(_) => "is a collective, whose ranks are those of this program",
                };
                self.refuse(&node.name, reason);
                FileWork::Join
            }
        };
        let after = node.after.iter().map(|&from| FileEdge {
            from: from as u32,
            programmatic: node.programmatic.contains(&from),
        });
        FileNode {
            name: node.name.clone(),
            body: node.body as u32,
            disabled: !program.enabled[index],
            after: after.collect(),
            work,
        }
    }

    fn conditional(&self, conditional: &Conditional) -> FileWork {
        let condition = conditional.condition();
        FileWork::Conditional {
            kind: conditional.kind.node(),
            memory: self.numbers[condition.resource as usize],
            start: condition.start as u64,
        }
    }

    fn rows(&self, rows: &ByteRectangle) -> FileRows {
        let part = rows.part();
        FileRows {
            memory: self.numbers[part.resource as usize],
            start: part.start as u64,
            bytes: part.bytes as u64,
            width: rows.width() as u64,
            pitch: rows.pitch() as u64,
        }
    }

    fn kernel(&mut self, node: &str, kernel: &KernelOp) -> FileWork {
        let program = &self.data.program;
        let function = &program.functions[kernel.function as usize];
        let Some(module) = function.module() else {
            self.refuse(
                node,
                "launches a loaded `CudaFunction`, whose code only the driver has; take the kernel from a `Cubin`",
            );
            return FileWork::Join;
        };
        if function.facts.takes_texels() {
            self.refuse(node, "takes a texture or a surface");
        }
        let arguments = program.arguments(kernel).iter().enumerate();
        let attributes = kernel.attributes.as_deref().cloned().unwrap_or_default();
        FileWork::Kernel(Box::new(FileKernel {
            module: module as u32,
            entry: function.facts.entry.into(),
            grid: kernel.config.grid,
            block: kernel.config.block,
            shared: kernel.config.shared,
            cluster: attributes.cluster,
            cooperative: attributes.cooperative,
            priority: attributes.priority,
            arguments: arguments
                .map(|(index, argument)| self.argument(unit(function.facts, index), argument))
                .collect(),
        }))
    }

    fn argument(&self, unit: u32, argument: &Argument) -> FileArgument {
        match argument {
            Argument::Value(value) => FileArgument::Value(value.bytes().to_vec()),
            Argument::Buffer {
                resource,
                mode,
                start,
                bytes,
            } => FileArgument::Memory {
                memory: self.numbers[*resource as usize],
                start: *start as u64,
                bytes: *bytes as u64,
                mode: *mode,
                unit,
            },
        }
    }
}

/// The size of an element of memory that a kernel takes; 1 if it is not known.
fn unit(facts: &KernelFacts, param: usize) -> u32 {
    match facts.params.get(param).map(|param| &param.kind) {
        Some(ParamKind::Buffer { unit, .. }) => u32::try_from(*unit).unwrap_or(1).max(1),
        _ => 1,
    }
}
