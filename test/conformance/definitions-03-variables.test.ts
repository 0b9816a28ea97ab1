/** definitions §3 Variables: which must have a value before a thread or tool runs, and which a prompt may not show. */
import { describe, expect, it } from '@jest/globals';
import { calls, says, scriptedModel } from '../../src/testing/index.ts';
import {
  type EnvProject,
  envRegistry,
  envRuntime,
  startedThread,
  toolResults,
} from '../support/env-project.ts';
import { eventually } from '../support/runtime.ts';

const SECRET = 'swordfish-4711';
const tell: EnvProject['tools'] = { tell: (state) => state.env('A') };

describe('definitions §3 Variables', () => {
  const needsA = [{ name: 'A', type: 'text' as const, required: true }];

  it('[definitions 3] an agent without its required variables fails naming them, calls no model, and continues once they are set', async () => {
    const model = scriptedModel([calls('tell'), says('done')]);
    const runtime = await envRuntime({
      model,
      tools: tell,
      agent: { variables: [{ name: 'KEY', required: true }] },
      variables: { tell: needsA },
    });
    const threadId = await startedThread(runtime);
    const failed = await runtime.client.getThread(threadId);
    expect(failed).toMatchObject({ status: 'failed', lastError: { code: 'MissingVariable' } });
    expect(failed.lastError?.message).toContain('"KEY" (the agent "helper"), "A" (the tool "tell")');
    expect(model.requests).toHaveLength(0);
    await runtime.client.setEnv({ thread: threadId }, 'KEY', SECRET);
    await runtime.client.setEnv({ instance: true }, 'A', 'here', { type: 'text' });
    await runtime.say(threadId, 'now?');
    expect(await runtime.transcript(threadId)).toEqual([
      'user: go',
      'user: now?',
      'assistant:  -> tell',
      'tool tell success: here',
      'assistant: done',
    ]);
  });

  it('[definitions 3] a thread started without a message reports missing variables at once', async () => {
    const runtime = await envRuntime({ model: scriptedModel([]), agent: { variables: needsA } });
    const { threadId } = await runtime.client.startThread({ agent: 'helper' });
    const failed = await eventually('the failure', async () => {
      const thread = await runtime.store.threads.get(threadId);
      return thread?.status === 'failed' && thread;
    });
    expect(failed.lastError).toMatchObject({ code: 'MissingVariable' });
  });

  it('[definitions 3] a thread can get its variables when it is started', async () => {
    const model = scriptedModel([calls('tell'), says('done')]);
    const runtime = await envRuntime({
      model,
      tools: tell,
      agent: { variables: [{ name: 'KEY', required: true }] },
      variables: { tell: needsA },
    });
    const { threadId } = await runtime.client.startThread({
      agent: 'helper',
      env: { KEY: SECRET, A: { value: 'here', type: 'text' } },
      messages: [{ content: 'go' }],
    });
    await runtime.client.waitForIdle(threadId);
    expect(await toolResults(runtime, threadId)).toEqual(['here']);
    await expect(
      runtime.client.startThread({ agent: 'helper', threadId, env: { A: 'other' } }),
    ).rejects.toMatchObject({ code: 'InvalidStart' });
    expect(await runtime.client.listEnv({ thread: threadId })).toMatchObject([
      { value: 'here' },
      { name: 'KEY' },
    ]);
  });

  it('[definitions 3] a tool whose required variable is missing does not run: its result names the variable', async () => {
    const ran: string[] = [];
    let unset = async () => {};
    const model = scriptedModel([
      async () => {
        await unset();
        return calls('tell');
      },
      calls('ask'),
      says('done'),
    ]);
    const runtime = await envRuntime({
      model,
      tools: {
        tell: () => {
          ran.push('tell');
          return 'ran';
        },
        ask: async (state) => {
          const { status, error } = await state.invokeTool('tell', {});
          return `${status}: ${error}`;
        },
      },
      variables: { tell: needsA },
    });
    await runtime.client.setEnv({ user: 'ada' }, 'A', '');
    // Runs after the thread has started and before the call.
    unset = async () => {
      await runtime.client.unsetEnv({ user: 'ada' }, 'A');
      await runtime.client.setEnv({ user: 'eve' }, 'A', 'of somebody else');
    };
    const thread = await startedThread(runtime, 'ada');
    expect(await toolResults(runtime, thread)).toEqual([
      'Failed to execute tool: The tool "tell" needs the variable "A", which has no value.',
      'error: The tool "tell" needs the variable "A", which has no value.',
    ]);
    expect((await runtime.client.getThread(thread)).status).toBe('idle');
    expect(ran).toEqual([]);
  });

  it('[definitions 3] a prompt may not show a variable that is declared a secret: the project is refused', () => {
    const project = {
      model: scriptedModel([]),
      agent: { variables: [{ name: 'KEY', type: 'secret' as const }] },
      prompt: { prompt: [{ type: 'env' as const, property: 'KEY' }] },
    };
    expect(() => envRegistry(project)).toThrow(/would show 'KEY' to the model/);
  });
});
