/** Helpers for tests of what an operator does with the buttons of Temporal's Web UI. */
import { defineTool } from '../../src/definitions/index.ts';
import { eventually } from './eventually.ts';
import type { TestRuntime } from './runtime.ts';

export const workflowOf = (runtime: TestRuntime, thread: string) =>
  runtime.client.temporal.workflow.getHandle(`thread/${thread}`);

export async function statusOf(runtime: TestRuntime, thread: string): Promise<string> {
  return (await runtime.client.getThread(thread)).status;
}

export async function begin(runtime: TestRuntime, content: string): Promise<string> {
  return (await runtime.client.startThread({ agent: 'helper', messages: [{ content }] })).threadId;
}

/** A tool whose body waits until the test opens its gate. */
export function gatedTool() {
  const gate = Promise.withResolvers<void>();
  const runs: string[] = [];
  const tool = defineTool({
    description: 'waits',
    execute: async (state) => {
      runs.push(String(state.idempotencyKey));
      await gate.promise;
      return { status: 'success', result: 'let go' };
    },
  });
  return { tool, runs, open: () => gate.resolve() };
}

export async function untilStreaming(runtime: TestRuntime, thread: string): Promise<void> {
  await eventually('streamed text', async () =>
    (await runtime.store.events.read(thread, 0)).some((event) => event.type === 'model.chunk'),
  );
}
