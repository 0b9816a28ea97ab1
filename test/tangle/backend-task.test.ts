/**
 * Backends that carry out tasks: their events are reported within the phases of the loop, sessions are resumed, and
 * failures are typed.
 */
import { describe, expect, it } from '@jest/globals';
import type { TaskSettings } from '../../src/core/author/task.ts';
import { defineTask } from '../../src/definitions/index.ts';
import type { AgentExecutionBackend, BackendEvent } from '../../src/faces/tangle/index.ts';
import {
  BackendTransportError,
  backendTask,
  createIterableBackend,
  runAgentTaskStream,
} from '../../src/faces/tangle/index.ts';
import { taskRuntime } from '../tasks/task-runtime.ts';

async function* echo(message = ''): AsyncGenerator<BackendEvent> {
  yield { type: 'text_delta', text: 'You said: ' };
  yield { type: 'text_delta', text: message };
  yield { type: 'tool_call', toolName: 'look', toolCallId: 'c1', args: { at: 1 } };
  yield { type: 'llm_call', model: 'echo-1', tokensIn: 3, costUsd: 0.5 };
}

const own = (backend: AgentExecutionBackend, settings: TaskSettings = {}) =>
  defineTask(backendTask(backend, settings));

type Client = Awaited<ReturnType<typeof taskRuntime>>['client'];
const stream = async (client: Client, adapter: string, options: object = {}) => {
  const told = [];
  const asked = { client, adapter, task: { intent: 'echo' }, input: { message: 'hi' }, ...options };
  for await (const event of runAgentTaskStream(asked)) told.push(event);
  return told;
};
const kinds = (told: readonly { type: string }[]) => told.map(({ type }) => type);

describe('a backend that runs a task', () => {
  it('emits events within the loop, in a session, and can be read from any cursor', async () => {
    const backend = createIterableBackend(({ message }) => echo(message));
    const { client } = await taskRuntime({ echo: own(backend) });
    const told = await stream(client, 'echo', { task: { id: 'told-once', intent: 'echo' } });
    const texts = told.filter(({ type }) => type === 'text_delta').length;
    expect(kinds(told)).toEqual([
      ...['task_start', 'readiness_start', 'readiness_end', 'control_start'],
      ...['control_observed', 'control_decided', 'control_acting', 'session_created', 'backend_start'],
      ...Array(texts).fill('text_delta'),
      ...['tool_call', 'llm_call', 'backend_end', 'control_step'],
      ...['control_observed', 'control_decided', 'control_end', 'task_end', 'final'],
    ]);
    expect(told.at(-1)).toMatchObject({ status: 'completed', text: 'You said: hi' });
    const task = await client.tasks.get('told-once');
    expect(task).toMatchObject({ spentCostUsd: 0.5, verdict: { outcome: { text: 'You said: hi' } } });
    const at = told.findIndex(({ type }) => type === 'backend_start');
    const again = { task: { id: 'told-once', intent: 'echo' }, after: told[at]?.cursor };
    expect(await stream(client, 'echo', again)).toEqual(told.slice(at + 1));
  });

  it('[TG-11] resumes its own session, and none of another kind or an unknown one', async () => {
    const tokens: unknown[] = [];
    const resumed: string[] = [];
    const backend: AgentExecutionBackend = {
      kind: 'near',
      start: () => ({ id: 'mine', resumeToken: 'token-1' }),
      resume: ({ id }) => void resumed.push(id),
      async *stream(_input, context) {
        tokens.push(context?.session?.resumeToken);
        yield { type: 'text_delta', text: 'so' };
      },
    };
    const other = createIterableBackend(() => ['other']);
    const { client } = await taskRuntime({ near: own(backend), other: own(other) });
    const first = await stream(client, 'near');
    expect(first).toContainEqual(
      expect.objectContaining({ type: 'session_created', session: expect.objectContaining({ id: 'mine' }) }),
    );
    const second = await stream(client, 'near', { sessionId: 'mine', resume: true });
    expect(kinds(second)).toContain('session_resumed');
    expect(kinds(second)).not.toContain('session_created');
    expect([resumed, tokens]).toEqual([['mine'], ['token-1', 'token-1']]);
    const mismatch = await stream(client, 'other', { sessionId: 'mine', resume: true });
    expect(mismatch.at(-1)).toMatchObject({
      status: 'failed',
      reason: expect.stringMatching(/"mine" belongs to backend "near", not "iterable"/),
    });
    const unknown = await stream(client, 'near', { sessionId: 'nobodys', resume: true });
    expect(unknown.at(-1)).toMatchObject({
      status: 'failed',
      reason: expect.stringMatching(/Session "nobodys" does not exist/),
    });
    // A session belongs to its user: another user has no session with that id.
    const stranger = await stream(client, 'near', { sessionId: 'mine', resume: true, userId: 'eve' });
    expect(stranger.at(-1)).toMatchObject({
      status: 'failed',
      reason: expect.stringMatching(/Session "mine" does not exist/),
    });
    const [, , , act] = [await client.tasks.list({ name: 'other' })].flat();
    expect(act).toBeUndefined();
    expect(tokens).toHaveLength(2);
  });

  it('[TG-10] fails once with a typed error after the events so far, and its session is failed', async () => {
    const stopped: string[] = [];
    const backend: AgentExecutionBackend = {
      kind: 'far',
      async *stream() {
        yield { type: 'text_delta', text: 'half' };
        yield { type: 'llm_call', model: 'far-1', tokensIn: 3, costUsd: 0.25 };
        throw new BackendTransportError('the backend answered 503', {
          backend: 'far',
          status: 503,
          body: 'down',
        });
      },
      stop: (_session, reason) => {
        stopped.push(reason);
        throw new Error('nobody there');
      },
    };
    const { client } = await taskRuntime({ far: own(backend) });
    const told = await stream(client, 'far');
    const error = { kind: 'transport', status: 503, body: 'down' };
    expect(told.filter(({ type }) => type === 'backend_error')).toMatchObject([
      { recoverable: true, message: expect.stringMatching(/503; stopping it failed: nobody there/), error },
    ]);
    expect(kinds(told)).not.toContain('backend_end');
    expect(told.at(-1)).toMatchObject({ type: 'final', status: 'failed', text: 'half', error });
    expect(stopped).toEqual(['the backend answered 503']);
    // The cost until the failure is charged.
    expect((await client.tasks.list({ name: 'far' }))[0]).toMatchObject({ spentCostUsd: 0.25 });
  });
});
