// An extension of pi that writes the models that pi knows to standard error, and ends pi: standard output is pi's own.

/** @param {import("@earendil-works/pi-coding-agent").ExtensionAPI} pi */
export default function tellModels(pi) {
  pi.on("session_start", (_, { modelRegistry }) => {
    const models = modelRegistry.getAll();
    const told = models.map((model) => [model.provider, model.id, modelRegistry.hasConfiguredAuth(model)]);
    process.stderr.write(`${JSON.stringify({ type: "models", models: told })}\n`, () => process.exit(0));
  });
}
