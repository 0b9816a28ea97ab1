/**
 * The entry `everthread/testing`. The folder, by what its files do:
 *
 *   models   `script` are the steps, `scripted-model` follows them by way of the `script-player`; `scripted-server` is the same over HTTP, with
 *            `openai-request-reader` and `openai-response-writer`
 *   agents   `test-agent` is an agent of a `test-project` on a `test-engine`, which has a `test-server`, and is talked to by a `test-thread`;
 *            `quiet-runtime` keeps the SDK from the console
 *   tools    `test-state` is what one is given, of a `test-state-thread` in a `test-store`
 *   runs     `run-assertions`
 */
export {
  type AssertEventsOptions,
  assertBudgetUnder,
  assertNoDeniedActions,
  assertRunEvents,
  type BudgetBounds,
  type RunUsage,
} from './run-assertions.ts';
export {
  type AnswerStep,
  type CallsOptions,
  calls,
  callsMany,
  type Delayed,
  type DisconnectStep,
  delays,
  disconnects,
  type FailsOptions,
  type FailureStep,
  fails,
  type HangStep,
  hangs,
  type RecordedRequest,
  type SaysOptions,
  type ScriptedCall,
  type ScriptFunction,
  type ScriptStep,
  says,
} from './script.ts';
export {
  type Script,
  type ScriptedModel,
  type ScriptedModelOptions,
  scriptedModel,
} from './scripted-model.ts';
export type { ScriptedConnection, ScriptedServer } from './scripted-server.ts';
export { type TestAgent, type TestAgentOptions, testAgent } from './test-agent.ts';
export type { TestScript, TestScripts } from './test-project.ts';
export { testState } from './test-state.ts';
export type { TestQueuedTool, TestState, TestStateOptions } from './test-state-thread.ts';
export type { TestAnswer, TestThread, TestThreadOptions, TestToolCall } from './test-thread.ts';
