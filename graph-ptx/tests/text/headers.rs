//! The directives at the beginning of a text, raised for programmatic launches.

use graph_ptx::raised_for_programmatic;

#[test]
fn older_directives_are_raised_and_newer_ones_stay() {
    let text = |version: &str, target: &str| {
        format!("// .version 1.0\n.version {version} // own\n.target {target}\n.address_size 64\n// .target sm_70\n")
    };
    for ((version, target), expected) in [
        (("7.7", "sm_70"), Some(("7.8", "sm_90"))),
        (("6.0", "sm_80"), Some(("7.8", "sm_90"))),
        (("7.8", "sm_70"), Some(("7.8", "sm_90"))),
        (("8.4", "sm_90a"), Some(("8.4", "sm_90a"))),
        (("8.7", "sm_100"), Some(("8.7", "sm_100"))),
        (("6.0", "sm_60"), None),
        (("5.0", "sm_70"), None),
        (("8.0", "sm_80a"), None),
    ] {
        let expected = expected.map(|(version, target)| text(version, target));
        let before = text(version, target);
        assert_eq!(
            raised_for_programmatic(&before).as_deref(),
            expected.as_deref(),
            "{before}"
        );
    }
    assert_eq!(raised_for_programmatic(".target sm_70\n.version 7.7\n"), None);
}
