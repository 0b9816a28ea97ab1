/** What AgenticX's runtime page requires of the time-outs of models; ids are those of its acceptance cases. */
import type { Requirement } from './requirement.ts';

const must = (id: string, text: string): Requirement => ({ id, level: 'MUST', text });

export const MODEL_TIMEOUTS: readonly Requirement[] = [
  must('AX-30', 'Text is told in order as it streams, and the answer is all of it.'),
  must(
    'AX-31',
    'Where nothing begins in time, readers are told once that it waits, and the answer is asked for as a whole.',
  ),
  must('AX-32', 'A stream that falls silent is given up, and the answer asked for as a whole.'),
  must('AX-33', 'A stream without an end is given up, and the answer asked for as a whole.'),
  must('AX-34', 'A stream that breaks is given up with all that it brought, its calls too.'),
  must(
    'AX-35',
    'A whole answer that does not come in time is an error that names provider and model, and ends the turn.',
  ),
  must('AX-36', 'A model that does not stream is asked for its answer as a whole at once.'),
  must('AX-37', 'Nothing tells of waiting once an answer has begun.'),
  must('AX-38', 'A provider is told to wait 15 seconds longer than the longest of our own times.'),
  must(
    'AX-39',
    'What is no time is refused by its name when a model is defined, and what is absent has its default.',
  ),
  must('AX-40', 'A worker lost within a stream leaves one answer, and readers are told what to forget.'),
  must('AX-41', 'A stop closes the connection of the request under way.'),
];
