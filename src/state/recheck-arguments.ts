/**
 * Arguments are checked as they come, and nothing but what was checked, judged and shown is executed: code of the tool that has them in its hands before
 * the body, `prepareAction` and `confirm`, may change them in place.
 * R1. What `prepareAction` has changed is checked again, as the model's own is (`checkPrepared`); then it is what is judged, shown and executed.
 * R2. What is changed behind that is not executed: the call is refused before it begins.
 */
import type { ToolDefinition } from '../core/author/definition.ts';
import { toAction } from './asked-action.ts';
import { type AnsweredCall, refuseCall } from './check-arguments.ts';
import { go, type Nothing, type Verdict } from './gate.ts';
import type { Asked, Judged } from './judge-action.ts';

/** Stage. R2: a digest for tools with such code, nothing for others. */
export function recheckArguments(
  _ports: unknown,
  { asked, action, tool }: Asked & Judged & { readonly tool: ToolDefinition },
): Verdict<Nothing, AnsweredCall> {
  if (!asked || !action || (!tool.prepareAction && typeof tool.confirm !== 'function')) return go();
  if (toAction(asked).fingerprint === action.action.fingerprint) return go();
  return refuseCall(
    `"${tool.name}" was not done: its own code has changed the arguments after they were judged.`,
  );
}
