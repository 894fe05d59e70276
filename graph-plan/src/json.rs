//! A [`Plan`] as JSON.

use crate::Plan;

impl Plan {
    /// The graph as JSON: an object of the fields of [`Plan`]. Numbers of nodes, bodies, loops and resources are
    /// positions in its lists, and variants of enums are in `snake_case`. `serde_json` reads it back into a [`Plan`].
    ///
    /// ```
    /// use graph_plan::{Draft, Memory, Mode, NodeKind, Plan, Region, check};
    ///
    /// let mut draft = Draft::new("Example");
    /// let data = draft.resource("data", Memory::Device);
    /// let clear = draft.node("clear", NodeKind::Memset);
    /// draft.access(clear, data, Region::Whole, Mode::Write);
    /// let plan = Plan::of(&draft, &check(&draft), |_| 64);
    /// let json = plan.to_json();
    /// assert!(json.contains(r#""kind": "memset""#));
    /// assert_eq!(serde_json::from_str::<Plan>(&json).expect("a plan"), plan);
    /// ```
    pub fn to_json(&self) -> String {
        serde_json::to_string_pretty(self).expect("a plan has no maps, and serializing it does not fail")
    }
}
