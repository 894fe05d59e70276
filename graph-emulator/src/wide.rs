//! Detection of the instruction set that lane loops are compiled for besides the baseline one.

/// Proof that the processor has the features that functions made by [`dispatch`] enable.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wide(());

impl Wide {
    /// Ask the processor.
    pub(crate) fn detect() -> Option<Wide> {
        #[cfg(target_arch = "x86_64")]
        if std::arch::is_x86_feature_detected!("avx2")
            && std::arch::is_x86_feature_detected!("fma")
            && std::arch::is_x86_feature_detected!("bmi2")
            && std::arch::is_x86_feature_detected!("lzcnt")
            && std::arch::is_x86_feature_detected!("popcnt")
        {
            return Some(Wide(()));
        }
        None
    }
}

/// Compile a function twice, for the baseline and for the features of [`Wide`], and call the one that fits. The body must
/// be `#[inline(always)]`, so that it takes on the features of its caller.
macro_rules! dispatch {
    ($(#[$attribute:meta])* fn $name:ident($registers:ident: &mut Registers $(, $argument:ident: $ty:ty)*) $(-> $result:ty)? = $body:ident) => {
        $(#[$attribute])*
        pub(crate) fn $name($registers: &mut Registers $(, $argument: $ty)*) $(-> $result)? {
            #[cfg(target_arch = "x86_64")]
            if $registers.wide.is_some() {
                #[target_feature(enable = "avx2,fma,bmi2,lzcnt,popcnt")]
                fn wide($registers: &mut Registers $(, $argument: $ty)*) $(-> $result)? {
                    $body($registers $(, $argument)*)
                }
                // SAFETY: a `Wide` exists only where `Wide::detect` found these very features.
                return unsafe { wide($registers $(, $argument)*) };
            }
            $body($registers $(, $argument)*)
        }
    };
}
pub(crate) use dispatch;
