/** A runtime whose project has thread endpoints, and a function that calls them; needs the clean-up of `runtime.ts`. */
import { z } from 'zod';
import type { Registry } from '../../src/core/author/registry.ts';
import { registryFrom } from '../../src/definitions/index.ts';
import {
  defineAgent,
  defineEffect,
  defineHook,
  defineModel,
  definePrompt,
  defineThreadEndpoint,
  defineTool,
  type EndpointHandler,
} from '../../src/index.ts';
import { createEndpointHandler, type EndpointFailure } from '../../src/server/index.ts';
import { type ScriptedModel, scriptedModel } from '../../src/testing/index.ts';
import { closeAfterTest, type TestRuntime, testRuntime } from './runtime.ts';

/** A registered tool that no prompt offers. */
const refund = defineTool({
  description: 'Refunds.',
  args: z.object({ order: z.string(), note: z.string().default('') }),
  execute: async (_state, { order, note }) => ({
    status: 'success',
    result: `refunded ${order}${note.length > 0 ? `, noting ${note.length}` : ''}`,
  }),
});

/** Marks messages that code writes to the thread. */
const stamp = defineHook({
  hook: 'before_create_message',
  id: 'stamp',
  execute: (_state, { metadata }) => ({ metadata: { ...metadata, stamped: true } }),
});

type Handlers = Readonly<Record<string, EndpointHandler>>;

function projectOf(model: ScriptedModel, handlers: Handlers): Registry {
  const endpoints = Object.entries(handlers).map(([name, handler]) => [name, defineThreadEndpoint(handler)]);
  return registryFrom({
    agents: [defineAgent({ name: 'helper', sideA: { prompt: 'main' }, hooks: ['stamp'] })],
    prompts: [
      definePrompt({
        name: 'main',
        toolDescription: 'the main prompt',
        prompt: 'You help.',
        model: 'scripted',
        includeChat: true,
      }),
    ],
    models: [defineModel({ name: 'scripted', provider: model.provider, model: 'scripted-1' })],
    tools: { refund },
    hooks: [stamp],
    effects: { remind: defineEffect('Reminds.', (state) => state.setValue('reminded', true)) },
    endpoints: Object.fromEntries(endpoints),
  });
}

export interface EndpointSite extends TestRuntime {
  /** What `onError` has received. */
  readonly failures: EndpointFailure[];
  /** Calls an endpoint; `request` is `METHOD /path`, relative to the prefix. */
  ask(request: string, init?: RequestInit): Promise<Response>;
  close(): Promise<void>;
}

/** The project of the agent "helper" with these endpoints. Its default model fails if it is asked. */
export async function endpointSite(handlers: Handlers, model = scriptedModel([])): Promise<EndpointSite> {
  const registry = projectOf(model, handlers);
  const runtime = await testRuntime({ model, registry });
  const failures: EndpointFailure[] = [];
  const onError = (_error: unknown, failure: EndpointFailure) => failures.push(failure);
  const endpoints = await createEndpointHandler({ client: runtime.client, registry, onError });
  closeAfterTest(endpoints.close);
  const ask: EndpointSite['ask'] = (request, init) => {
    const [method, path] = request.split(' ') as [string, string];
    return endpoints.handle(new Request(`http://host.test/api/threads${path}`, { method, ...init }));
  };
  return { ...runtime, failures, ask, close: endpoints.close };
}

/** Returns the status and the JSON body of a response. */
export async function show(response: Response): Promise<{ status: number; body: unknown }> {
  return { status: response.status, body: await response.json() };
}
