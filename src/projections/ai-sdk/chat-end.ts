/** The end of a response: with its execution, or when a person is waited for. */
import type { EventData } from '../../core/event/event-data.ts';
import { endInputs } from './chat-pieces.ts';
import type { OpenResponse } from './chat-state.ts';
import { closeStep } from './chat-text.ts';
import type { UiChunk } from './ui-chunk.ts';

export function endResponse(response: OpenResponse, end: EventData['execution.ended']): readonly UiChunk[] {
  const { status = 'idle', reason, error, cancelReason } = end;
  // Calls that were not made end as errors.
  const [left, errors] = endInputs(response);
  const [, ending] = closeStep(left);
  const closing = [...errors, ...ending];
  const finishReason = response.filtered ? 'content-filter' : 'stop';
  if (status === 'idle') return [...closing, { type: 'finish', finishReason }];
  if (status !== 'failed') return [...closing, { type: 'abort', reason: cancelReason ?? reason }];
  const errorText = error?.message ?? reason;
  return [...closing, { type: 'error', errorText }, { type: 'finish', finishReason: 'error' }];
}

/** Ends a response at a wait: a web page can answer only while no response streams. The answer begins the next one. */
export function endAtWait(response: OpenResponse): readonly UiChunk[] {
  // Pages go on by themselves once no call of the message is open, so calls behind the one that waits must not be.
  const [left, errors] = endInputs(response);
  const [, closing] = closeStep(left);
  return [...errors, ...closing, { type: 'finish', finishReason: 'tool-calls' }];
}
