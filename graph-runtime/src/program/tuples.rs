//! The tuples that nodes take their arguments in.

/// Calls the macro `$implement` with all tuples of one to twelve arguments: for each, a list of type parameters, each
/// followed by its index.
macro_rules! each_tuple {
    ($implement:ident) => {
        $implement! {
            [A 0]
            [A 0 B 1]
            [A 0 B 1 C 2]
            [A 0 B 1 C 2 D 3]
            [A 0 B 1 C 2 D 3 E 4]
            [A 0 B 1 C 2 D 3 E 4 F 5]
            [A 0 B 1 C 2 D 3 E 4 F 5 G 6]
            [A 0 B 1 C 2 D 3 E 4 F 5 G 6 H 7]
            [A 0 B 1 C 2 D 3 E 4 F 5 G 6 H 7 I 8]
            [A 0 B 1 C 2 D 3 E 4 F 5 G 6 H 7 I 8 J 9]
            [A 0 B 1 C 2 D 3 E 4 F 5 G 6 H 7 I 8 J 9 K 10]
            [A 0 B 1 C 2 D 3 E 4 F 5 G 6 H 7 I 8 J 9 K 10 L 11]
        }
    };
}
pub(crate) use each_tuple;
