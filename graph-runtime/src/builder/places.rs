//! Memory that graphs share and that a program has in structs: the places of all its buffers at once.

use super::GraphBuilder;
use crate::error::{Error, Result};
use crate::graph::Graph;
use crate::graph::change::update::Update;
use crate::memory::{DeviceBuffer, SharedHost};
use crate::shape::place::{OnDevice, OnHost, Place};

/// Memory that a graph shares: a [`DeviceBuffer`] or a [`SharedHost`], a list of such memory, or a struct of it, for
/// which `#[derive(Places)]` implements this. [`GraphBuilder::places`] declares all of it.
///
/// The derive also makes a struct with the same fields, whose name ends in `Places`: that of a buffer is a
/// [`Place`], that of a list a `Vec`. Nodes only read what they get of a field, unless it is marked
/// `#[places(mut)]`. `#[places(crate = path)]` at the struct is for crates in which `graph_runtime` has another path.
///
/// ```
/// use graph_runtime::{Device, DeviceBuffer, GraphBuilder, Places};
///
/// #[derive(Places)]
/// struct Layer {
///     norm: DeviceBuffer<[f32; 4]>,
///     #[places(mut)]
///     keys: DeviceBuffer<[f32; 4]>,
/// }
///
/// #[derive(Places)]
/// struct Model {
///     layers: Vec<Layer>,
/// }
///
/// let device = Device::emulator();
/// let layer = || Ok::<_, graph_runtime::Error>(Layer { norm: device.alloc()?, keys: device.alloc()? });
/// let model = Model { layers: vec![layer()?, layer()?] };
///
/// let mut builder = GraphBuilder::new(&device, "Step");
/// let mut places: ModelPlaces = builder.places("", &model);
/// for (index, layer) in places.layers.iter_mut().enumerate() {
///     builder.memcpy(format!("keep[{index}]"), &layer.norm, &mut layer.keys);
/// }
/// let mut graph = builder.build()?;
/// assert_eq!(graph.plan().resources[3].name, "layers[1].keys");
///
/// model.layers[1].norm.copy_from(&[2.0; 4])?;
/// graph.launch()?;
/// assert_eq!(*model.layers[1].keys.read()?, [2.0; 4]);
///
/// let other = layer()?;
/// graph.rebind_places(&places.layers[1], &other)?;
/// graph.launch()?;
/// # Ok::<(), graph_runtime::Error>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no memory that a graph shares",
    label = "not a buffer, a list of buffers, or a struct of them",
    note = "a struct of `DeviceBuffer`s and `SharedHost`s is one by `#[derive(Places)]`"
)]
pub trait Places {
    /// A place for each buffer, in the same form.
    type Places;

    /// Declares the memory by this name, which ends in `.field` for a field and in `[index]` for one of a list. Nodes
    /// may write all of it if it is `mutable`.
    fn declare(&self, builder: &mut GraphBuilder, name: &str, mutable: bool) -> Self::Places;

    /// Lets `places` be this memory from now on.
    ///
    /// # Errors
    /// As [`Update::rebind`], and [`Error::Unsupported`] if a list is longer or shorter.
    fn rebind(&self, places: &Self::Places, update: &mut Update<'_>) -> Result<()>;
}

/// The name of a field.
pub fn field_name(name: &str, field: &str) -> String {
    match name {
        "" => field.to_owned(),
        _ => format!("{name}.{field}"),
    }
}

macro_rules! buffers {
    ($($handle:ident in $memory:ident;)*) => {$(
        impl<S: ?Sized> Places for $handle<S> {
            type Places = Place<S, $memory>;

            fn declare(&self, builder: &mut GraphBuilder, name: &str, mutable: bool) -> Self::Places {
                builder.shared(name.to_owned(), self, mutable)
            }

            fn rebind(&self, places: &Self::Places, update: &mut Update<'_>) -> Result<()> {
                update.rebind(places, self)
            }
        }
    )*};
}
buffers! {
    DeviceBuffer in OnDevice;
    SharedHost in OnHost;
}

impl<T: Places> Places for [T] {
    type Places = Vec<T::Places>;

    fn declare(&self, builder: &mut GraphBuilder, name: &str, mutable: bool) -> Self::Places {
        let all = self.iter().enumerate();
        all.map(|(index, one)| one.declare(builder, &format!("{name}[{index}]"), mutable))
            .collect()
    }

    fn rebind(&self, places: &Self::Places, update: &mut Update<'_>) -> Result<()> {
        if self.len() != places.len() {
            return Err(Error::Unsupported {
                site: update.graph.site(),
                message: "a list of memory cannot become longer or shorter",
            });
        }
        let mut all = self.iter().zip(places);
        all.try_for_each(|(one, places)| one.rebind(places, update))
    }
}

/// Implements [`Places`] as for what it refers to.
macro_rules! as_target {
    ($([$($generics:tt)*] $ty:ty: $target:ty;)*) => {$(
        impl<$($generics)*> Places for $ty {
            type Places = <$target as Places>::Places;

            fn declare(&self, builder: &mut GraphBuilder, name: &str, mutable: bool) -> Self::Places {
                <$target>::declare(self, builder, name, mutable)
            }

            fn rebind(&self, places: &Self::Places, update: &mut Update<'_>) -> Result<()> {
                <$target>::rebind(self, places, update)
            }
        }
    )*};
}
as_target! {
    [T: Places] Vec<T>: [T];
    [T: Places, const N: usize] [T; N]: [T];
    [T: Places + ?Sized] &T: T;
}

impl GraphBuilder {
    /// Declares memory that is outside the graph, as [`GraphBuilder::shared`] does, of all buffers of a struct: of
    /// `name`, each is `name.field`, in lists `name.field[index]`. Without a name, `field` is the whole name.
    ///
    /// [`Places`] has an example.
    pub fn places<P: Places + ?Sized>(&mut self, name: &str, memory: &P) -> P::Places {
        memory.declare(self, name, false)
    }
}

impl Graph {
    /// Replaces the memory of places that [`GraphBuilder::places`] has returned, all of it or none: see
    /// [`Graph::rebind`]. In [an edit](Graph::edit), all is done when that ends.
    ///
    /// # Errors
    /// As [`Graph::rebind`], and [`Error::Unsupported`] if a list has become longer or shorter.
    pub fn rebind_places<P: Places + ?Sized>(&mut self, places: &P::Places, memory: &P) -> Result<()> {
        self.update("memory", |update| memory.rebind(places, update))
    }
}
