/** Whatever a provider does, the turn ends, the history is valid, sockets are closed, the next message is answered. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { ModelDefinition } from '../../src/core/author/definition.ts';
import type { Registry } from '../../src/core/author/registry.ts';
import { eventsOf } from '../../src/core/event/thread-event.ts';
import {
  defineAgent,
  defineModel,
  definePrompt,
  defineTool,
  registryFrom,
} from '../../src/definitions/index.ts';
import { openaiCompatible } from '../../src/models/index.ts';
import { type RudeProvider, type RudeRequest, serveRudeProvider } from '../support/rude-provider.ts';
import { eventually, type TestRuntime, testRuntime } from '../support/runtime.ts';
import { MISDEEDS, type Misdeed } from './misdeeds.ts';

const nameOf = (number: number) => `rude_${number}`;

let provider: RudeProvider;
beforeAll(async () => {
  provider = await serveRudeProvider(
    Object.fromEntries(MISDEEDS.map(({ does }, number) => [nameOf(number), does])),
  );
});
afterAll(() => provider?.close());

/** An agent for each misdeed. `patient`: every model has the default time-outs. */
function registry(patient: boolean): Registry {
  const all = MISDEEDS.map((misdeed, number) => ({ misdeed, name: nameOf(number) }));
  const model = ({ timeouts }: Misdeed, name: string): ModelDefinition =>
    defineModel({
      name,
      provider: openaiCompatible({ baseUrl: provider.url, apiKey: 'none' }),
      model: name,
      ...(patient || timeouts === undefined ? {} : { timeouts }),
    });
  return registryFrom({
    agents: all.map(({ name }) => defineAgent({ name, sideA: { prompt: name } })),
    prompts: all.map(({ name }) =>
      definePrompt({
        ...{ name, model: name, toolDescription: 'a prompt', prompt: 'You help.', tools: ['look'] },
        ...{ includeChat: true, includePastTools: true },
      }),
    ),
    models: all.map(({ misdeed, name }) => model(misdeed, name)),
    tools: {
      look: defineTool({
        description: 'looks',
        quick: true,
        execute: async () => ({ status: 'success', result: 'seen' }),
      }),
    },
  });
}

/**
 * Returns the outcome of the thread's last execution, as the table writes it. The table counts the requests of one
 * attempt at each step: if a step was tried again because a slow worker was taken for lost, the numbers are left out.
 */
async function endOf({ client, store }: TestRuntime, threadId: string): Promise<string> {
  const { status, lastError } = await client.getThread(threadId);
  const log = await store.events.read(threadId, 0, 100_000);
  const asked = eventsOf(log, 'model.called').length;
  const discarded = eventsOf(log, 'attempt.discarded').length;
  const word = status === 'failed' ? `failed ${lastError?.code}` : 'answered';
  if (log.some(({ attempt = 1 }) => attempt > 1)) return word;
  return `${word} in ${asked}${discarded === 0 ? '' : `, ${discarded} discarded`}`;
}

/** The expected outcome as a pattern; without its numbers if the actual outcome has none. */
function endsLike(end: string | RegExp, told = ''): RegExp {
  const { source } = typeof end === 'string' ? new RegExp(`^${end}$`) : end;
  return new RegExp(told.includes(' in ') ? source : source.replace(/ in .*$/, '$'));
}

/** True if each call is followed by its result, each result follows its call, and no ids in an answer repeat. */
function isLegal({ messages }: RudeRequest): boolean {
  let open: string[] = [];
  for (const { role, tool_calls: calls, tool_call_id: id } of messages) {
    if (role === 'tool') {
      if (open.shift() !== id) return false;
    } else if (open.length > 0) return false;
    if (calls) open = calls.map((call) => call.id);
    if (new Set(open).size !== open.length) return false;
  }
  return open.length === 0;
}

describe('a misbehaving provider', () => {
  it('[AX-34] affects neither its turn nor the next one, and its sockets are closed', async () => {
    let patient = false;
    const runtime = await testRuntime({ registry: () => registry(patient) });
    const { client, store } = runtime;
    const threads = await Promise.all(
      MISDEEDS.map(async (_, number) => {
        const { threadId } = await client.startThread({
          agent: nameOf(number),
          messages: [{ content: 'hello' }],
        });
        return threadId;
      }),
    );
    await Promise.all(threads.map((threadId) => client.waitForIdle(threadId)));

    const ends = await Promise.all(threads.map((threadId) => endOf(runtime, threadId)));
    const told = MISDEEDS.map(({ what }, number) => [what, ends[number]]);
    expect(told).toEqual(
      MISDEEDS.map(({ what, ends: end }, number) => [
        what,
        expect.stringMatching(endsLike(end, ends[number])),
      ]),
    );
    await eventually('all sockets to be closed', () => provider.openSockets === 0);
    // Buffers between the two may hold more than was read, but not the whole stream.
    for (const number of MISDEEDS.keys())
      expect(provider.sent(nameOf(number))).toBeLessThan(48 * 1024 * 1024);

    provider.behave();
    patient = true;
    const before = provider.requests.length;
    await Promise.all(threads.map((threadId) => runtime.say(threadId, 'and now?')));
    for (const [number, threadId] of threads.entries()) {
      const lines = await runtime.transcript(threadId);
      expect([MISDEEDS[number]?.what, lines.at(-1)]).toEqual([
        MISDEEDS[number]?.what,
        'assistant: Here I am.',
      ]);
      const log = await store.events.read(threadId, 0, 100_000);
      expect(eventsOf(log, 'execution.started')).toHaveLength(2);
      expect(eventsOf(log, 'execution.ended')).toHaveLength(2);
    }
    expect(provider.requests.slice(before).filter((request) => !isLegal(request))).toEqual([]);
  });
});
