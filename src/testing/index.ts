/**
 * The entry `everthread/testing`. The folder, by what its files do:
 *
 *   models   `script` has the steps, `scripted-model` plays them through `script-player`; `scripted-server` serves them
 *            over HTTP, with `openai-request-reader` and `openai-response-writer`
 *   agents   `test-agent` runs an agent of a `test-project` on a `test-engine`, which uses a `test-server`;
 *            `test-thread` sends messages to a thread and reads the results; `quiet-runtime` silences the SDK's logs
 *   tools    `test-state` makes the state that a tool receives, for a thread (`test-state-thread`) in a temporary store
 *            (`test-store`)
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
