/**
 * Ensures that only arguments are executed that were validated, judged and shown: code of the tool that runs before the
 * body, `prepareAction` and `confirm`, could change them in place.
 * R1. Arguments that `prepareAction` has changed are validated again, like those of a model (`checkPrepared`). They are
 *     then what is judged, shown and executed.
 * R2. If arguments are changed after that, the call is refused before it begins.
 */
import type { ToolDefinition } from '../../core/author/registry.ts';
import { type AnsweredCall, refuseCall } from '../tool/check-arguments.ts';
import { toAction } from './asked-action.ts';
import { go, type Nothing, type Verdict } from './gate.ts';
import type { Asked, Judged } from './judge-action.ts';

/** Stage for R2. Computes a digest for tools with such code, and nothing for others. */
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
