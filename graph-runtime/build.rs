//! Says which `cuda-*` feature is missing or one too many. The errors of cudarc, which gets these features, do not.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let features = std::env::vars_os().filter_map(|(name, _)| name.into_string().ok());
    let versions = features.filter_map(|name| name.strip_prefix("CARGO_FEATURE_CUDA_").map(str::to_owned));
    let mut versions: Vec<String> = versions.map(|version| format!("`cuda-{version}`")).collect();
    versions.sort();
    match &versions[..] {
        [_] => {}
        [] => println!(
            "cargo::error=graph-runtime needs one feature that names a version of CUDA: write for example `features = \
             [\"cuda-12080\"]` beside `default-features = false` (and `\"emulator\"`, to run graphs without a GPU)"
        ),
        several => println!(
            "cargo::error=the features {} of graph-runtime are on, but it can have one version of CUDA: `cuda-12080` is \
             a default feature, so write `default-features = false` beside another one, everywhere in the build",
            several.join(" and ")
        ),
    }
}
