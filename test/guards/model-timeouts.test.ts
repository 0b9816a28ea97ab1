/** Time-outs of a model on the engine: what readers receive, what it costs, and that no connection stays open. */
import { describe, expect, it } from '@jest/globals';
import type { Registry } from '../../src/core/author/registry.ts';
import { eventsOf } from '../../src/core/event/thread-event.ts';
import type { ModelTimeouts } from '../../src/core/value/limit.ts';
import {
  type AgentInput,
  defineAgent,
  defineModel,
  definePrompt,
  registryFrom,
} from '../../src/definitions/index.ts';
import { openaiCompatible } from '../../src/models/index.ts';
import { event, type Rudeness, type RudeProvider, serveRudeProvider } from '../support/rude-provider.ts';
import { closeAfterTest, eventually, type TestRuntime, testRuntime } from '../support/runtime.ts';

interface Site extends TestRuntime {
  readonly provider: RudeProvider;
}

interface SiteOptions {
  readonly does?: Rudeness;
  readonly timeouts?: ModelTimeouts;
  readonly agent?: Partial<AgentInput>;
  readonly fresh?: boolean;
}

/** One agent with one model, whose provider behaves as `does` says. */
async function openSite({ does, timeouts, agent, fresh }: SiteOptions): Promise<Site> {
  const provider = await serveRudeProvider(does ? { main: does } : {});
  closeAfterTest(() => provider.close());
  const registry: Registry = registryFrom({
    agents: [defineAgent({ name: 'helper', sideA: { prompt: 'main' }, ...agent } as AgentInput)],
    prompts: [
      definePrompt({ name: 'main', model: 'main', toolDescription: 'a prompt', prompt: 'You help.' }),
    ],
    models: [
      defineModel({
        ...{ name: 'main', model: 'main', timeouts, capabilities: { maxOutputTokens: 100 } },
        provider: openaiCompatible({ baseUrl: provider.url, apiKey: 'none' }),
      }),
    ],
  });
  return { ...(await testRuntime({ registry, fresh })), provider };
}

const read = ({ store }: TestRuntime, thread: string) => store.events.read(thread, 0, 10_000);

const silent: Rudeness = () => undefined;
const silentStreams: Rudeness = ({ streamed, answer }) => (streamed ? undefined : answer());
const talks: Rudeness = ({ head, send }) => {
  head();
  return send([event({ content: 'Once upon' })]);
};

describe('an answer', () => {
  it('[AX-30] is streamed in order and completely', async () => {
    const parts = Array.from({ length: 20 }, (_, n) => event({ content: `${n} ` }));
    const site = await openSite({
      async does({ head, send, response }) {
        head();
        await send(parts);
        response.end(`${event({}, { finish_reason: 'stop' })}data: [DONE]\n\n`);
      },
    });
    const thread = await site.start('count');
    const text = parts.map((_, n) => `${n} `).join('');
    const log = await read(site, thread);
    expect(
      eventsOf(log, 'model.chunk')
        .map(({ data }) => data.delta)
        .join(''),
    ).toBe(text);
    expect((await site.transcript(thread)).at(-1)).toBe(`assistant: ${text}`);
  });

  it('[AX-31] that does not start is reported once, and a call without streaming returns the text', async () => {
    const site = await openSite({
      does: silentStreams,
      timeouts: { firstChunkSeconds: 0.3, feedbackSeconds: 0.05 },
    });
    const thread = await site.start('hello');
    const log = await read(site, thread);
    expect(eventsOf(log, 'model.waiting').map(({ data }) => data)).toEqual([{ call: 1, afterMs: 50 }]);
    expect(eventsOf(log, 'model.failed')).toMatchObject([
      { data: { call: 1, code: 'timeout', plain: true } },
    ]);
    expect(eventsOf(log, 'model.chunk').map(({ data }) => [data.call, data.delta])).toEqual([
      [2, 'Here I am.'],
    ]);
    expect(await site.transcript(thread)).toEqual(['user: hello', 'assistant: Here I am.']);
  });

  it('[AX-35] that never arrives is an error with provider and model, and ends the turn', async () => {
    const site = await openSite({
      does: silent,
      timeouts: { firstChunkSeconds: 0.2, plainSeconds: 0.2 },
    });
    const thread = await site.start('hello');
    expect(await site.client.getThread(thread)).toMatchObject({
      status: 'failed',
      lastError: {
        code: 'timeout',
        message:
          'The model "main" (main of openai-compatible) stalled: no answer within 200 ms. (2 model calls)',
      },
    });
  });
});

describe('a call without streaming in place of a stream', () => {
  // On a busy machine the time of a stream may be over before its request has reached the provider.
  const wholeAnswers = ({ provider }: Site) => provider.requests.filter(({ stream }) => !stream).length;

  it('[AX-31] is logged, reserved and charged like any other request', async () => {
    const site = await openSite({
      does: silentStreams,
      timeouts: { firstChunkSeconds: 0.2 },
      agent: { budget: { maxLlmCalls: 2, maxOutputTokens: 1000 } },
    });
    const thread = await site.start('hello');
    const log = await read(site, thread);
    expect(eventsOf(log, 'context.prepared').map(({ data }) => data.call)).toEqual([1, 2]);
    expect((await site.transcript(thread)).at(-1)).toBe('assistant: Here I am.');
    expect(wholeAnswers(site)).toBe(1);
  });

  it('[AX-31] is not made if the budget does not allow it', async () => {
    const site = await openSite({
      does: silentStreams,
      timeouts: { firstChunkSeconds: 0.2 },
      agent: { budget: { maxLlmCalls: 1 } },
    });
    const thread = await site.start('hello');
    expect(await site.client.getThread(thread)).toMatchObject({ lastError: { code: 'BudgetExceeded' } });
    expect(wholeAnswers(site)).toBe(0);
  });
});

describe('the connection of a request', () => {
  const asked = ({ provider }: Site, times = 1) =>
    eventually('the model is asked', () => provider.requests.length >= times);
  const closed = ({ provider }: Site) =>
    eventually('its connection is closed', () => provider.openSockets === 0);
  const begin = async ({ client }: Site) =>
    (await client.startThread({ agent: 'helper', messages: [{ content: 'hello' }] })).threadId;

  it.each([
    ['that says nothing', 1, silent],
    ['within its text', 1, talks],
    [
      'for a whole answer',
      2,
      (exchange) => {
        if (exchange.streamed) exchange.response.end();
        else exchange.head({ 'content-type': 'application/json' });
      },
    ],
  ] satisfies [string, number, Rudeness][])('[AX-41] %s is closed by a stop', async (_what, times, does) => {
    const site = await openSite({ does });
    const thread = await begin(site);
    await asked(site, times);
    await site.client.stop(thread);
    await closed(site);
    await site.client.waitForIdle(thread);
    site.provider.behave();
    await site.say(thread, 'and now?');
    expect((await site.transcript(thread)).at(-1)).toBe('assistant: Here I am.');
  });

  it('[AX-41] is closed if its execution is cancelled', async () => {
    const site = await openSite({ does: talks });
    const thread = await begin(site);
    await asked(site);
    await site.client.cancelExecution(thread, { reason: 'enough' });
    await closed(site);
  });

  it('[AX-41] is closed if its thread is terminated', async () => {
    const site = await openSite({ does: talks });
    const thread = await begin(site);
    await asked(site);
    await site.client.terminate(thread);
    await closed(site);
  });

  it('[AX-41] is closed if its worker shuts down', async () => {
    const site = await openSite({ does: talks, fresh: true });
    await begin(site);
    await asked(site);
    await site.stopWorker();
    await closed(site);
  });
});
