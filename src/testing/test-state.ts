/** `testState`: what a tool is given, for a test of its `execute` alone. Loaded when it is asked for, as `test-agent.ts` says. */
import type { TestState, TestStateOptions } from './test-state-thread.ts';

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
