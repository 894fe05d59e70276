//! The `.target` of PTX: the devices that it runs on, and the choice among files for several targets.

/// The architecture that PTX is made for (PTX ISA, "`.target`"). Targets are ordered by how much they may use: `sm_90`
/// is below `sm_90a`, and that below `sm_100`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Target {
    /// The compute capability: 90 for 9.0.
    capability: u32,
    devices: Devices,
}

/// The devices that run PTX for a target, besides those of exactly its compute capability.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Devices {
    /// All later ones: `sm_90`.
    Later,
    /// Later ones of the same family: `sm_100f`.
    Family,
    /// No others: `sm_90a`.
    None,
}

impl Target {
    /// Reads the name of a target; `None` if it is spelt in no known way.
    pub const fn parse(name: &str) -> Option<Self> {
        let [b's', b'm', b'_', number @ ..] = name.as_bytes() else {
            return None;
        };
        let (mut capability, mut index) = (0_u32, 0);
        while index < number.len() && index < MAX_DIGITS && number[index].is_ascii_digit() {
            capability = 10 * capability + (number[index] - b'0') as u32;
            index += 1;
        }
        let devices = match number.split_at(index) {
            ([], _) => return None,
            (_, []) => Devices::Later,
            (_, [b'f']) => Devices::Family,
            (_, [b'a']) => Devices::None,
            _ => return None,
        };
        Some(Self { capability, devices })
    }

    /// Whether a device of this compute capability (90 for 9.0) runs PTX for the target.
    pub const fn runs_on(self, device: u32) -> bool {
        match self.devices {
            Devices::Later => device >= self.capability,
            Devices::Family => device >= self.capability && device / 10 == self.capability / 10,
            Devices::None => device == self.capability,
        }
    }

    /// Whether all devices from this compute capability on run PTX for the target.
    pub const fn runs_from(self, device: u32) -> bool {
        matches!(self.devices, Devices::Later) && self.runs_on(device)
    }

    /// Whether the target is above another one.
    pub const fn is_above(self, other: Self) -> bool {
        self.capability > other.capability
            || self.capability == other.capability && self.devices as u8 > other.devices as u8
    }
}

/// More digits than any compute capability has; so many fit a `u32`.
const MAX_DIGITS: usize = 6;

/// The index of the highest of `targets` that a device of this compute capability runs. A target that is spelt in no
/// known way is below all others, and runs anywhere: CUDA decides.
pub fn best_target<'t>(targets: impl IntoIterator<Item = &'t str>, device: u32) -> Option<usize> {
    let parsed = targets.into_iter().map(Target::parse).enumerate();
    let running = parsed.filter(|(_, target)| target.is_none_or(|target| target.runs_on(device)));
    running.max_by_key(|&(_, target)| target).map(|(index, _)| index)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn runs_on(target: &str, device: u32) -> bool {
        Target::parse(target).unwrap().runs_on(device)
    }

    #[test]
    fn targets_are_minimums_unless_they_are_of_one_architecture() {
        assert!(runs_on("sm_70", 70) && runs_on("sm_70", 90) && !runs_on("sm_90", 89));
        assert!(runs_on("sm_90a", 90) && !runs_on("sm_90a", 100));
        assert!(runs_on("sm_100f", 103) && !runs_on("sm_100f", 120) && !runs_on("sm_103f", 100));
        assert!(runs_on("sm_120", 121));
        for name in [
            "texmode_independent",
            "sm_",
            "sm_90x",
            "sm_90aa",
            "sm_12345678",
            "90",
            "",
        ] {
            assert_eq!(Target::parse(name), None, "{name}");
        }
        assert!(Target::parse("sm_90").unwrap().runs_from(90) && !Target::parse("sm_90a").unwrap().runs_from(90));
    }

    #[test]
    fn targets_are_ordered() {
        let targets = ["sm_80", "sm_90", "sm_90a", "sm_100", "sm_100f", "sm_100a", "sm_120"];
        let parsed = targets.map(|name| Target::parse(name).unwrap());
        for (index, target) in parsed.iter().enumerate() {
            for (other, below) in parsed.iter().enumerate() {
                assert_eq!(target.is_above(*below), index > other);
                assert_eq!(target > below, index > other);
            }
        }
    }

    #[test]
    fn a_device_gets_the_highest_target_that_it_runs() {
        let best = |device| best_target(["sm_70", "sm_100", "sm_90", "sm_90a"], device);
        let devices = [60, 70, 86, 89, 90, 100, 103, 120];
        let expected = [None, Some(0), Some(0), Some(0), Some(3), Some(1), Some(1), Some(1)];
        assert_eq!(devices.map(best), expected);
        assert_eq!(best_target(["unknown", "sm_90"], 80), Some(0));
        assert_eq!(best_target(["unknown", "sm_90"], 90), Some(1));
    }
}
