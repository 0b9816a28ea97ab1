/**
 * Steps and their text. A message has exactly the text that was committed.
 * X1. Discarded text is removed by a snapshot without it; the text that replaces it has the same message id.
 */
import { answerIdOf } from '../../core/message/answer-id.ts';
import type { AgUiEvent } from './ag-ui-event.ts';
import type { AgUiHandlers, AgUiTransition } from './ag-ui-handler.ts';
import type { OpenRun } from './ag-ui-state.ts';

export const TEXT_HANDLERS: AgUiHandlers = {
  'step.started': (run, { step = 0, data: { depth, side } }) => {
    if (depth !== undefined) return [run, []];
    const [closed, ending] = closeStep(run);
    const stepName = `step ${step}`;
    const role = side === 'b' ? 'user' : 'assistant';
    return [{ ...closed, step: stepName, role }, [...ending, { type: 'STEP_STARTED', stepName }]];
  },
  'model.chunk': (run, event, { threadId, upTo }) => {
    const { delta, call, depth } = event.data;
    // Text of a sub-prompt is no answer to the user.
    if (depth !== undefined || delta === '') return [run, []];
    const { step = 0 } = event;
    const attempt = `${step}.${event.attempt ?? 0}.${call}`;
    const messageId = answerIdOf(threadId, step);
    const open = run.text?.attempt === attempt ? run.text : null;
    const events: AgUiEvent[] = open ? [] : [...withdrawText(run, upTo), textStart(run, messageId)];
    const text = { messageId, attempt, text: (open?.text ?? '') + delta };
    return [{ ...run, text }, [...events, { type: 'TEXT_MESSAGE_CONTENT', messageId, delta }]];
  },
  'attempt.discarded': (run, { data: { depth } }, { upTo }) =>
    depth === undefined ? [{ ...run, text: null }, withdrawText(run, upTo)] : [run, []],
  'step.committed': (run, { data: { messageId, depth } }, { prior }) =>
    depth === undefined ? commitText(run, messageId, prior) : [run, []],
  // If text was kept, it is the message before this row.
  'execution.aborted': (run, { data: { keptText, depth } }, { upTo, prior }) => {
    if (depth !== undefined) return [run, []];
    if (keptText && run.said) return commitText(run, run.said.id, prior);
    return [{ ...run, text: null }, withdrawText(run, upTo)];
  },
};

function textStart({ role }: OpenRun, messageId: string): AgUiEvent {
  return { type: 'TEXT_MESSAGE_START', messageId, role };
}

function commitText(run: OpenRun, messageId: string, prior: number): AgUiTransition {
  const content = (run.said?.id === messageId ? run.said.content : null) ?? '';
  const { text: open } = run;
  const next = { ...run, text: null };
  if (open?.messageId === messageId && content.startsWith(open.text)) {
    const rest = content.slice(open.text.length);
    return [
      next,
      [...(rest === '' ? [] : [textContent(messageId, rest)]), { type: 'TEXT_MESSAGE_END', messageId }],
    ];
  }
  const whole: AgUiEvent[] =
    content === ''
      ? []
      : [textStart(run, messageId), textContent(messageId, content), { type: 'TEXT_MESSAGE_END', messageId }];
  return [next, [...withdrawText(run, prior), ...whole]];
}

function textContent(messageId: string, delta: string): AgUiEvent {
  return { type: 'TEXT_MESSAGE_CONTENT', messageId, delta };
}

/** X1: ends the open message and removes it by a snapshot. */
function withdrawText({ text }: OpenRun, upTo: number): readonly AgUiEvent[] {
  if (!text) return [];
  return [
    { type: 'TEXT_MESSAGE_END', messageId: text.messageId },
    { type: 'MESSAGES_SNAPSHOT', upTo },
  ];
}

export function closeStep(run: OpenRun): AgUiTransition {
  const { text, step } = run;
  const ending: AgUiEvent[] = [];
  if (text) ending.push({ type: 'TEXT_MESSAGE_END', messageId: text.messageId });
  if (step !== null) ending.push({ type: 'STEP_FINISHED', stepName: step });
  return [{ ...run, text: null, step: null }, ending];
}
