/** What readers of the examples of Tangle's page and of ours have elsewhere. */

/** An agent that is served, as a client and over HTTP, and the lines of a body. */
export const GIVEN = `
import { RuntimeClient, defineAgent as namedAgent, defineModel, definePrompt, registryFrom } from 'everthread';
import { createApi } from 'everthread/server';
import { createWorker } from 'everthread/worker';
import { calls, says, scriptedModel } from 'everthread/testing';
import * as tangle from 'everthread/tangle';
async function serve(name, steps, hooks = []) {
  const { provider } = scriptedModel(steps);
  const registry = registryFrom({
    agents: [namedAgent({ name, sideA: { prompt: 'main' }, hooks: hooks.map((hook) => hook.name) })],
    prompts: [definePrompt({ name: 'main', toolDescription: 'Helps.', prompt: 'You help.', model: 'scripted', includeChat: true })],
    models: [defineModel({ name: 'scripted', provider, model: 'scripted' })],
    hooks,
  });
  const place = { projectDir: process.cwd(), taskQueue: 'served-' + name };
  const worker = await createWorker({ ...place, registry, signals: false });
  const running = worker.run();
  const client = await RuntimeClient.connect(place);
  const api = createApi({ client });
  const close = async () => (await client.close(), worker.shutdown(), await running);
  return { client, close, fetch: (url, init) => api.fetch(new Request(url, init)) };
}
async function linesOf(body) {
  const text = await new Response(body).text();
  return text.trim().split('\\n').map((line) => JSON.parse(line));
}
`;
