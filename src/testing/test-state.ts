/** `testState`: what a tool is given, for a test of its `execute` alone. Loaded when it is asked for, as `test-agent.ts` says. */
import type { Registry } from '../core/author/definition.ts';
import type { Scratch, ThreadState, UnknownFields } from '../core/author/thread-state.ts';
import type { TestThreadOptions } from './test-thread.ts';

export interface TestStateOptions
  extends Pick<TestThreadOptions, 'agent' | 'userId' | 'arguments' | 'env' | 'tags'> {
  /** Definitions that the tool reaches, by `invokeTool`, `loadPrompt` and their like: a folder that holds `agents/`, or made in code. None unless given. */
  readonly project?: string | URL | Registry;
  /** The tool's name in the project: its own `uses`, variables and options hold then. */
  readonly tool?: string;
  /** `state.options`; those of the tool's entry in its prompt unless given. */
  readonly options?: UnknownFields;
  /** What `state.context` begins with. */
  readonly scratch?: Readonly<Scratch>;
}

/** The tool call under test asked for it; in a real thread it runs next. */
export interface TestQueuedTool {
  readonly name: string;
  readonly arguments: Readonly<Record<string, unknown>>;
}

export interface TestState extends ThreadState {
  /** What `queueTool` was asked for, in order. Messages that were queued are among those of `getMessages`. */
  readonly queuedTools: readonly TestQueuedTool[];
  /** Fires `execution.abortSignal`, as a stop does. */
  abort(reason?: unknown): void;
  /** Closes the store, and removes it. The second time it does nothing. */
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

/**
 * The state of a thread that was just opened in a temporary store, within its first step: everything that a tool can do with it is done there. There
 * is no server, no worker and no model, so nothing runs that it queues or schedules, and nobody can be asked (`state.ask`): that is for `testAgent`. A
 * tool's arguments are not checked here, and what it throws is thrown; `state.invokeTool` of a `project` does both. Throws `InvalidDefinitions`,
 * `AgentNotFound`, `DefinitionNotFound` (the tool), and as `startThread` for variables.
 * @example
 * ```ts
 * await using state = await testState({ env: { SHOP_KEY: 'k-1' } });
 * const findOrder = defineTool({ description: 'Finds.', execute: async (state) => ({ status: 'success', result: await state.env('SHOP_KEY') }) });
 * console.log(await findOrder.execute(state, undefined)); // { status: 'success', result: 'k-1' }
 * ```
 */
export async function testState(options: TestStateOptions = {}): Promise<TestState> {
  const { openTestState } = await import('./test-state-thread.ts');
  return openTestState(options);
}
