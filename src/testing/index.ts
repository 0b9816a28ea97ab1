/** The entry `everthread/testing`: the scripted model, in process or as an HTTP server, and assertions on runs. */
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
