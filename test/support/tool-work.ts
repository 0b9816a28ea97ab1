/** Tools that are given as their bodies; each returns JSON. */
import type { ThreadState } from '../../src/core/author/thread-state.ts';
import { defineTool } from '../../src/definitions/index.ts';
import { calls, says, scriptedModel } from '../../src/testing/index.ts';
import { type RuntimeOptions, type TestRuntime, testRuntime } from './runtime.ts';

export type Work = (state: ThreadState) => Promise<unknown> | unknown;

export const toolOf = (work: Work, timeoutMs?: number) =>
  defineTool({
    description: 'does it',
    timeoutMs,
    execute: async (state) => ({
      status: 'success',
      result: JSON.stringify((await work(state)) ?? null),
    }),
  });

export interface Worked {
  readonly runtime: TestRuntime;
  readonly threadId: string;
  /** Results of the tools, in order; errors as text. */
  readonly answers: readonly unknown[];
}

/** Runs a thread whose model calls each tool once, in the order given, one per step, and then says "done". */
export async function work(
  tools: Readonly<Record<string, Work>>,
  options: RuntimeOptions = {},
): Promise<Worked> {
  const names = Object.keys(tools);
  const runtime = await testRuntime({
    model: scriptedModel([...names.map((name) => calls(name)), says('done')]),
    tools: Object.fromEntries(Object.entries(tools).map(([name, body]) => [name, toolOf(body)])),
    ...options,
  });
  const threadId = await runtime.start('go');
  return { runtime, threadId, answers: await toolAnswers(runtime, threadId) };
}

export async function toolAnswers(runtime: TestRuntime, threadId: string): Promise<unknown[]> {
  const messages = await runtime.messages(threadId);
  return messages
    .filter(({ role }) => role === 'tool')
    .map(({ content, tool_status: status }) =>
      status === 'success' ? (JSON.parse(content ?? 'null') as unknown) : content,
    );
}

/** Returns the code of what `work` throws, or its message if it has no code. */
export async function codeOf(work: () => Promise<unknown> | unknown): Promise<unknown> {
  try {
    return { returned: await work() };
  } catch (error) {
    const { code, message } = error as { code?: string; message: string };
    return code ?? message;
  }
}
