/** Protolink's AgentClient and its way to cancel, against the A2A endpoint. */
import { describe, expect, it } from '@jest/globals';
import {
  AgentClient,
  Task,
  type TaskEvent,
  TaskNotCancelableError,
  TaskNotFoundError,
} from '../../../src/faces/protolink/index.ts';
import { hangs, type ScriptStep, says, scriptedModel } from '../../../src/testing/index.ts';
import { testApi } from '../../support/api.ts';
import { closeAfterTest, eventually, testRuntime } from '../../support/runtime.ts';

async function agent(step: ScriptStep) {
  const model = scriptedModel([step]);
  const runtime = await testRuntime({ model });
  const api = await testApi(runtime);
  const client = new AgentClient();
  closeAfterTest(async () => client.close());
  return { runtime, model, client, url: `${api.url}/a2a/helper` };
}

describe('AgentClient', () => {
  it('returns the answer of a sent task, deduplicates a repeated task, and refuses to cancel a completed one', async () => {
    const { runtime, client, url } = await agent(says('Hello!'));
    const task = Task.createInfer({ prompt: 'hi' });
    expect(await client.sendTask(url, task)).toBe(task);
    expect([task.state, task.answer]).toEqual(['completed', 'Hello!']);
    const again = new Task({ id: task.id, messages: task.messages });
    expect((await client.sendTask(url, again)).artifacts).toEqual(task.artifacts);
    expect(await runtime.transcript(task.id)).toEqual(['user: hi', 'assistant: Hello!']);
    await expect(client.cancelTask(url, task.id)).rejects.toThrow(TaskNotCancelableError);
    await expect(client.cancelTask(url, 'none')).rejects.toThrow(TaskNotFoundError);
  });

  it('cancels a task by id with a reason while the request that sent it is open; both sides report it canceled', async () => {
    const { model, client, url } = await agent(hangs());
    const task = Task.createInfer({ prompt: 'hi' });
    const running = client.sendTask(url, task);
    await eventually('its model is asked', () => model.requests.length === 1);
    const asked = await client.cancelTask(url, task.id, { reason: 'Stopped from the application' });
    expect(asked.id).toBe(task.id);
    const result = await running;
    // The first request returns the end if it comes within ten seconds, else the state at that time; a repeated one
    // returns the current state.
    const canceled = await client.cancelTask(url, task.id);
    expect([canceled.state, result.state]).toEqual(['canceled', 'canceled']);
    for (const { metadata } of [canceled, result])
      expect(metadata.cancel_reason).toBe('Stopped from the application');
  });

  it('streams a task to its end with the text that was committed', async () => {
    const { client, url } = await agent(says('Hello you'));
    const task = Task.createInfer({ prompt: 'hi' });
    const events: TaskEvent[] = [];
    for await (const event of client.sendTaskStreaming(url, task)) events.push(event);
    expect(events.at(-1)).toEqual({ type: 'task.status', task_id: task.id, state: 'completed', final: true });
    const texts = events.flatMap((event) =>
      event.type === 'task.artifact' ? [event.artifact.parts[0]?.content] : [],
    );
    expect(texts.at(-1)).toBe('Hello you');
    expect(events.filter((event) => event.type === 'task.status' && event.final)).toHaveLength(1);
  });
});
