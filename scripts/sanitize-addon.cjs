// Loaded before everything else (NODE_OPTIONS=--require) while the sanitizers run: the addon that they watch takes the
// place of the one that was built for use.
const load = process.dlopen;
process.dlopen = (module, file, ...rest) =>
  load.call(
    process,
    module,
    file.endsWith('/weft.node') ? process.env.WEFT_SANITIZED : file,
    ...rest,
  );
