//! The part every driver has, and what runs a verb.

use core::marker::PhantomData;
use std::rc::Rc;

use crate::{
    bindings,
    context::Context,
    error::Result,
    host::{Host as _, Real},
    types::{Call, CapabilityReport, DriverInfo, Level, OptionSpec},
};

/// What every driver is: interfaces `lifecycle` and `capabilities`.
pub trait Driver: Sized + 'static {
    /// Name, vendor, version. Must not call the host.
    fn info() -> DriverInfo;

    /// The options of a back end's section: the host checks it against them and refuses unknown ones. Must not call the host.
    fn options() -> Vec<OptionSpec>;

    /// Makes the driver for one call, mostly by reading options. Keep it cheap: it runs before every verb.
    fn open(cx: &Context) -> Result<Self>;

    /// Runs once when the driver or its configuration was loaded. Check what [`Driver::options`] cannot say: the array
    /// answers, the pool exists. An error keeps the one before in service.
    fn init(&self, _: &Context) -> Result<()> {
        Ok(())
    }

    /// Features and pools; asked for as often as the operator says (30 s).
    fn report(&self, cx: &Context) -> Result<CapabilityReport>;
}

/// Connects a driver's traits with the component's exports; named by [`export!`](crate::export) only.
#[derive(Debug)]
pub struct Glue<D>(PhantomData<D>);

/// Opens the driver and runs one verb.
pub(crate) fn run<D: Driver, T, E: From<crate::DriverError>>(
    verb: &'static str,
    call: Call,
    work: impl FnOnce(&D, &Context) -> Result<T, E>,
) -> Result<T, E> {
    report_panics();
    let cx = Context::new(call, verb, Rc::new(Real));
    let driver = D::open(&cx)?;
    work(&driver, &cx)
}

/// A panic is a trap, of which the host sees the functions; the message goes to the log.
fn report_panics() {
    std::panic::set_hook(Box::new(|panic| Real.log(Level::Error, &format!("the driver panicked: {panic}"), &[])));
}

impl<D: Driver> bindings::lifecycle::Guest for Glue<D> {
    fn info() -> DriverInfo {
        D::info()
    }
    fn describe_options() -> Vec<OptionSpec> {
        D::options()
    }
    fn init(call: Call) -> Result<()> {
        run("lifecycle.init", call, D::init)
    }
}

impl<D: Driver> bindings::capabilities::Guest for Glue<D> {
    fn report(call: Call) -> Result<CapabilityReport> {
        run("capabilities.report", call, D::report)
    }
}
