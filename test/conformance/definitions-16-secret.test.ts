/** definitions §16: secrets are redacted where results and errors are written, and no prompt shows one. */
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { generateKey, parseKeys } from '../../src/store/crypto/encryption.ts';
import { openStore } from '../../src/store/open-store.ts';
import { calls, fails, says, scriptedModel } from '../../src/testing/index.ts';
import { envRuntime, startedThread, toolResults } from '../support/env-project.ts';
import { closeAfterTest } from '../support/runtime.ts';

const SECRET = 'swordfish-4711';

describe('definitions §16 Environment at run time: secrets', () => {
  it('[definitions 16] secrets are redacted from results and errors, text variables are not', async () => {
    const model = scriptedModel([
      calls('leak'),
      calls('fail'),
      calls('crash'),
      calls('change'),
      says('done'),
    ]);
    const runtime = await envRuntime({
      model,
      tools: {
        leak: async (state) => `${await state.env('KEY')} in ${await state.env('PLACE')}`,
        fail: async (state) => ({ status: 'error', error: `no ${await state.env('KEY')}` }),
        crash: async (state) => {
          throw new Error(`no ${await state.env('KEY')}`);
        },
        change: async (state) => {
          const old = await state.env('KEY');
          await state.setEnv('KEY', 'octopus-0815');
          return `${old} became ${await state.env('KEY')}`;
        },
      },
    });
    await runtime.client.setEnv({ instance: true }, 'KEY', SECRET);
    await runtime.client.setEnv({ instance: true }, 'PLACE', 'Marseille', { type: 'text' });
    const thread = await startedThread(runtime);
    expect(await toolResults(runtime, thread)).toEqual([
      '[secret KEY] in Marseille',
      'Failed to execute tool: no [secret KEY]',
      'Failed to execute tool: no [secret KEY]',
      '[secret KEY] became [secret KEY]',
    ]);
  });

  it('[definitions 16] secrets are redacted from the arguments of tools and messages queued by a tool', async () => {
    const model = scriptedModel(({ messages }) =>
      messages.some(({ role }) => role === 'tool') ? says('done') : calls('ask'),
    );
    const runtime = await envRuntime({
      model,
      tools: {
        ask: async (state) => {
          const key = await state.env('KEY');
          state.queueTool('look', { at: [key], [key]: `the ${key}` });
          return 'asked';
        },
        look: () => 'seen',
      },
    });
    await runtime.client.setEnv({ instance: true }, 'KEY', SECRET);
    const thread = await startedThread(runtime);
    const stored = JSON.stringify(await runtime.messages(thread));
    expect(stored).toContain('the [secret KEY]');
    expect(stored).not.toContain(SECRET);
  });

  it('[definitions 16] a worker without the key of a variable runs no tool that could read it, and names it', async () => {
    const folder = join(process.env.EVERTHREAD_TEST_FOLDER as string, randomUUID());
    const open = async (keys: string) => {
      const store = await openStore('sqlite:store.db', folder, { keys: parseKeys(keys, 'the test') });
      closeAfterTest(() => store.close());
      return store;
    };
    const [ours, others] = [generateKey('ours'), generateKey('theirs')];
    const [store, other] = [await open(ours), await open(`${others},${ours}`)];
    let ran = 0;
    const model = scriptedModel([
      calls('count'),
      says('I see'),
      fails({ status: 400, message: `no ${SECRET}` }),
    ]);
    const runtime = await envRuntime({ model, tools: { count: () => `${++ran}` } }, { store });
    await other.env.set({ owner: { instance: true }, name: 'KEY', value: SECRET });
    const thread = await startedThread(runtime);
    expect((await toolResults(runtime, thread))[0]).toMatch(
      /^Failed to execute tool: The tool did not run: The variable "KEY" of the instance .* the key "theirs", which is not/,
    );
    expect(ran).toBe(0);
    // An error that could not be redacted is withheld completely.
    await runtime.say(thread, 'again');
    const failed = await runtime.client.getThread(thread);
    expect(failed.lastError?.message).toMatch(/^\[withheld: .*the key "theirs"/);
    expect(JSON.stringify(await store.events.read(thread, 0))).not.toContain(SECRET);
  });

  it('[definitions 6.2] a prompt shows text variables, the names of secrets, and nothing for a missing value', async () => {
    const model = scriptedModel([says('done'), says('done')]);
    const env = (property: string) => ({ type: 'env' as const, property });
    const text = (content: string) => ({ type: 'text' as const, content });
    const runtime = await envRuntime({
      model,
      agent: { env: { CITY: 'Paris' } },
      prompt: { prompt: [env('CITY'), text('|'), env('KEY'), text('|'), env('NONE'), text('|')] },
    });
    const thread = await startedThread(runtime);
    await runtime.client.setEnv({ thread }, 'CITY', '{{x}} Lyon', { type: 'text' });
    await runtime.client.setEnv({ instance: true }, 'KEY', SECRET);
    await runtime.say(thread, 'again');
    expect(model.requests.map(({ messages }) => messages[0]?.content)).toEqual([
      'Paris|||',
      '{{x}} Lyon|[secret KEY]||',
    ]);
  });
});
