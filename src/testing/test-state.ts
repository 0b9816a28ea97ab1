/** `testState`: the state that a tool receives, for a test of its `execute`. Loads lazily, as `test-agent.ts` does. */
import type { TestState, TestStateOptions } from './test-state-thread.ts';

/**
 * Returns the state of a new thread in its first step. What a tool does with the state takes effect in a temporary
 * store. There is no server, worker or model, so work that the tool queues or schedules does not run, and `state.ask`
 * cannot ask anybody: use `testAgent` for that. A direct call of `execute` neither checks the tool's arguments nor
 * catches what it throws; `state.invokeTool` of a `project` does both. Throws `InvalidDefinitions`, `AgentNotFound`,
 * `DefinitionNotFound` (the tool), and as `startThread` for variables.
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
