/**
 * The project that is measured: one agent per way of dispatching a tool, one model without any delay.
 * The model is a plain function over the provider port: the test kit's double records and freezes each request,
 * which costs more than a step at 1,000 messages.
 */
import type { Registry } from '../../src/core/author/registry.ts';
import type { Provider, ProviderRequest, ProviderStreamChunk } from '../../src/core/message/provider.ts';
import {
  defineAgent,
  defineModel,
  definePrompt,
  defineTool,
  registryFrom,
} from '../../src/definitions/index.ts';

/**
 * Agents by their tool. `once`: an ordinary tool, run at most once. `quick`: an idempotent, fast one. `quick_once`: a
 * fast one, run at most once.
 */
export const AGENTS = ['once', 'quick', 'quick_once'] as const;
export type AgentName = (typeof AGENTS)[number];

/** By thread id: called once the thread's model has given its last answer. */
export type Watchers = Map<string, () => void>;

/** A turn of `go N` calls the tool in N steps; the answer after them ends it. */
export function benchRegistry(watchers: Watchers): Registry {
  return registryFrom({
    agents: AGENTS.map(agent),
    prompts: AGENTS.map(prompt),
    models: [defineModel({ name: 'instant', provider: () => instantModel(watchers), model: 'instant-1' })],
    tools: {
      once_tool: defineTool({ description: 'Does nothing, at most once.', execute }),
      quick_tool: defineTool({ description: 'Does nothing, quickly.', execute, quick: true }),
      quick_once_tool: defineTool({
        description: 'Does nothing, quickly and at most once.',
        execute,
        quick: true,
        idempotent: false,
      }),
    },
  });
}

function execute() {
  return { status: 'success', result: 'done' } as const;
}

function agent(name: AgentName) {
  return defineAgent({ name, sideA: { prompt: `ask_${name}` } });
}

function prompt(name: AgentName) {
  return definePrompt({
    name: `ask_${name}`,
    toolDescription: 'measured',
    prompt: 'You are measured.',
    model: 'instant',
    includeChat: true,
    includePastTools: true,
    tools: [`${name}_tool`],
  });
}

/** `argue` returns the arguments of the next call. */
export function instantModel(watchers: Watchers, argue = () => '{}'): Provider {
  return {
    name: 'instant',
    specificationVersion: '1',
    async generate() {
      throw new Error('Everthread streams where it can.');
    },
    async stream(request) {
      return answer(request, watchers, argue);
    },
  };
}

const USAGE = { promptTokens: 10, completionTokens: 10, totalTokens: 20 };

async function* answer(
  request: ProviderRequest,
  watchers: Watchers,
  argue: () => string,
): AsyncGenerator<ProviderStreamChunk> {
  const { messages, tools = [], user = '' } = request;
  const asked = messages.findLastIndex(({ role }) => role === 'user');
  const [, steps] = /^go (\d+)$/.exec(String(messages[asked]?.content)) ?? [];
  const done = messages.slice(asked).filter(({ role }) => role === 'tool').length;
  if (done >= Number(steps)) {
    watchers.get(user)?.();
    yield { type: 'content-delta', delta: 'Done.' };
    yield { type: 'finish', finishReason: 'stop', usage: USAGE };
    return;
  }
  const name = tools[0]?.function.name ?? '';
  const id = `call_${messages.length}`;
  yield { type: 'tool-call-start', id, name };
  yield { type: 'tool-call-done', id, name, arguments: argue() };
  yield { type: 'finish', finishReason: 'tool_calls', usage: USAGE };
}
