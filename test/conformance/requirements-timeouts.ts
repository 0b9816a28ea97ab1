/** What AgenticX's runtime page requires of the time-outs of models; ids are those of its acceptance cases. */
import type { Requirement } from './requirement.ts';

const must = (id: string, text: string): Requirement => ({ id, level: 'MUST', text });

export const MODEL_TIMEOUTS: readonly Requirement[] = [
  must('AX-30', 'Text is emitted in order while it streams, and adds up to the answer.'),
  must(
    'AX-31',
    'If the first chunk is late, readers get one waiting event, and the answer is requested without streaming.',
  ),
  must('AX-32', 'A stream that stalls is abandoned, and the answer is requested without streaming.'),
  must('AX-33', 'A stream that does not end is abandoned, and the answer is requested without streaming.'),
  must('AX-34', 'A stream that breaks is discarded with everything it brought, including its calls.'),
  must(
    'AX-35',
    'A non-streamed answer that times out is an error that names provider and model, and ends the turn.',
  ),
  must('AX-36', 'A model without streaming is asked for its whole answer at once.'),
  must('AX-37', 'No waiting event follows the start of an answer.'),
  must('AX-38', "The provider's timeout is 15 seconds longer than the longest of our own."),
  must(
    'AX-39',
    'An invalid timeout is refused by name when a model is defined; an absent one has its default.',
  ),
  must('AX-40', 'A worker lost during a stream leaves one answer, and readers are told what to discard.'),
  must('AX-41', 'A stop closes the connection of the running request.'),
];
