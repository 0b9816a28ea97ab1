/** Threads that a task starts and waits for. */
import { describe, expect, it } from '@jest/globals';
import { defineAgent, defineModel, definePrompt, defineTask } from '../../src/definitions/index.ts';
import { says, scriptedModel } from '../../src/testing/index.ts';
import { taskRuntime } from './task-runtime.ts';

describe('a task', () => {
  it('starts a thread once for a retried action, waits for it, and continues with its last message', async () => {
    const model = scriptedModel([says('a draft')]);
    const started: string[] = [];
    const delegating = defineTask<{ drafted: boolean; read: unknown }, string>({
      observe: ({ history }) => ({
        drafted: history.some(({ actionOutcome, decision }) => decision.kind === 'act' && actionOutcome?.ok),
        read: history.find(({ decision }) => decision.kind === 'await')?.actionOutcome?.result ?? null,
      }),
      decide: ({ state, history }) => {
        if (!state.drafted) return { kind: 'act', action: 'draft' };
        const begun = history.at(-1)?.actionOutcome?.result as { threadId: string } | undefined;
        if (state.read === null) return { kind: 'await', threadId: begun?.threadId ?? '' };
        return { kind: 'stop', pass: true, reason: 'drafted', outcome: state.read };
      },
      async act(_, { startThread }) {
        const { threadId } = await startThread({ agent: 'writer', content: 'Write.' });
        started.push(threadId);
        if (started.length === 1) throw new Error('lost its answer');
        return { threadId };
      },
    });
    const project = {
      agents: [defineAgent({ name: 'writer', sideA: { prompt: 'main' } })],
      prompts: [
        definePrompt({
          name: 'main',
          toolDescription: 'main',
          prompt: 'Write.',
          model: 'scripted',
          includeChat: true,
        }),
      ],
      models: [defineModel({ name: 'scripted', provider: model.provider, model: 'scripted' })],
    };
    const { client } = await taskRuntime({ delegating }, { project });
    const owner = { userId: 'ada', organizationId: 'acme' };
    const { id } = await client.tasks.start({ task: 'delegating', ...owner });
    for await (const { event } of client.tasks.events(id, { openWithinMs: 60_000 }))
      if (event.type === 'final') break;
    const [threadId] = started;
    expect(await client.tasks.get(id)).toMatchObject({
      status: 'completed',
      steps: 3,
      verdict: { outcome: { threadId, status: 'idle', text: 'a draft' } },
    });
    expect(started).toEqual([threadId, threadId]);
    expect(model.requests).toHaveLength(1);
    // The thread has the task's owner, and a tag with the task's id.
    expect(await client.getThread(threadId ?? '')).toMatchObject({
      ...{ ...owner, parentId: null, tags: [`task/${id}`] },
    });
  });
});
