/** The entry `everthread/testing`: the scripted model, in process or as an HTTP server. */
export {
  type AnswerStep,
  calls,
  callsMany,
  type DisconnectStep,
  delays,
  disconnects,
  type FailureStep,
  fails,
  type HangStep,
  hangs,
  type RecordedRequest,
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
