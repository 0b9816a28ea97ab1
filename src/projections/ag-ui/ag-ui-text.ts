/**
 * Steps and their text. A message has exactly the text that was committed.
 * - Discarded text is removed by a snapshot without it; the text that replaces it has the same message id.
 */
import type { EventData } from '../../core/event/event-data.ts';
import { answerIdOf } from '../../core/message/answer-id.ts';
import { withShownCalls } from './ag-ui-calls.ts';
import type { AgUiEvent } from './ag-ui-event.ts';
import type { AgUiHandlers, AgUiTransition } from './ag-ui-handler.ts';
import { addInput, addReasoning, areMade, endInputs, endReasoning } from './ag-ui-pieces.ts';
import { NOTHING_STREAMED, type OpenRun } from './ag-ui-state.ts';

export const TEXT_HANDLERS: AgUiHandlers = {
  'step.started': (run, { step = 0, data: { depth, side } }) => {
    if (depth !== undefined) return [run, []];
    const [closed, ending] = closeStep(run);
    const stepName = `step ${step}`;
    const role = side === 'b' ? 'user' : 'assistant';
    return [{ ...closed, step: stepName, role }, [...ending, { type: 'STEP_STARTED', stepName }]];
  },
  'model.chunk': (run, event, { threadId, upTo }) => {
    const { delta, call, reasoning, input, depth } = event.data;
    // Text of a sub-prompt is no answer to the user.
    if (depth !== undefined || !(delta || reasoning || input)) return [run, []];
    const { step = 0 } = event;
    const request = `${step}.${event.attempt ?? 0}.${call}`;
    const [begun, before] = run.request === request ? [run, []] : withdrawAnswer(run, upTo);
    const [next, events] = addPiece({ ...begun, request }, answerIdOf(threadId, step), event.data);
    return [next, [...before, ...events]];
  },
  'attempt.discarded': (run, { data: { depth } }, { upTo }) =>
    depth === undefined ? withdrawAnswer(run, upTo) : [run, []],
  'step.committed': (run, { data: { messageId, depth } }, { prior, upTo }) =>
    depth === undefined ? commitAnswer(run, messageId, { prior, upTo }) : [run, []],
  // If text was kept, it is the message before this row.
  'execution.aborted': (run, { data: { keptText, depth } }, { upTo, prior }) => {
    if (depth !== undefined) return [run, []];
    if (keptText && run.said) return commitAnswer(run, run.said.id, { prior, upTo });
    return withdrawAnswer(run, upTo);
  },
};

function addPiece(
  run: OpenRun,
  messageId: string,
  { delta, reasoning, input }: EventData['model.chunk'],
): AgUiTransition {
  const { request } = run;
  if (reasoning) return addReasoning(run, request ?? '', reasoning);
  const [next, ending] = endReasoning(run);
  if (input) {
    const [added, events] = addInput(next, input, messageId);
    return [added, [...ending, ...events]];
  }
  const start = next.text ? [] : [textStart(next, messageId)];
  const text = { messageId, text: (next.text?.text ?? '') + delta };
  return [{ ...next, text }, [...ending, ...start, textContent(messageId, delta)]];
}

function textStart({ role }: OpenRun, messageId: string): AgUiEvent {
  return { type: 'TEXT_MESSAGE_START', messageId, role };
}

interface Snapshots {
  readonly prior: number;
  readonly upTo: number;
}

/** A snapshot with the answer itself replaces calls that were streamed and made otherwise. */
function commitAnswer(run: OpenRun, messageId: string, { prior, upTo }: Snapshots): AgUiTransition {
  const [thought, thoughts] = endReasoning(run);
  const text = commitText(thought, messageId, prior);
  const next = { ...thought, ...NOTHING_STREAMED };
  const isSnapshot = text.some(({ type }) => type === 'MESSAGES_SNAPSHOT');
  if (areMade(next) && !isSnapshot) return [next, [...thoughts, ...text]];
  const [ended, ending] = endInputs(next);
  const events = [...thoughts, ...ending, ...text];
  if (areMade(next)) return [ended, events];
  return [withShownCalls(ended), [...events, { type: 'MESSAGES_SNAPSHOT', upTo }]];
}

function commitText(run: OpenRun, messageId: string, prior: number): readonly AgUiEvent[] {
  const content = (run.said?.id === messageId ? run.said.content : null) ?? '';
  const { text: open } = run;
  if (open?.messageId === messageId && content.startsWith(open.text)) {
    const rest = content.slice(open.text.length);
    return [...(rest === '' ? [] : [textContent(messageId, rest)]), { type: 'TEXT_MESSAGE_END', messageId }];
  }
  const whole: AgUiEvent[] =
    content === ''
      ? []
      : [textStart(run, messageId), textContent(messageId, content), { type: 'TEXT_MESSAGE_END', messageId }];
  return [...endText(run), ...(open ? [{ type: 'MESSAGES_SNAPSHOT', upTo: prior } as const] : []), ...whole];
}

function textContent(messageId: string, delta: string): AgUiEvent {
  return { type: 'TEXT_MESSAGE_CONTENT', messageId, delta };
}

function endText({ text }: OpenRun): readonly AgUiEvent[] {
  return text ? [{ type: 'TEXT_MESSAGE_END', messageId: text.messageId }] : [];
}

/** Ends all that a request has streamed, and removes it by a snapshot. */
function withdrawAnswer(run: OpenRun, upTo: number): AgUiTransition {
  const [closed, ending] = closeAnswer(run);
  const isShown = run.text !== null || Object.keys(run.inputs).length > 0;
  return [closed, isShown ? [...ending, { type: 'MESSAGES_SNAPSHOT', upTo }] : ending];
}

function closeAnswer(run: OpenRun): AgUiTransition {
  const [thought, thoughts] = endReasoning(run);
  const [closed, calls] = endInputs(thought);
  return [{ ...closed, ...NOTHING_STREAMED }, [...thoughts, ...endText(run), ...calls]];
}

export function closeStep(run: OpenRun): AgUiTransition {
  const [closed, ending] = closeAnswer(run);
  const { step } = run;
  const finished: AgUiEvent[] = step === null ? [] : [{ type: 'STEP_FINISHED', stepName: step }];
  return [{ ...closed, step: null }, [...ending, ...finished]];
}
