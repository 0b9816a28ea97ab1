/** What AgenticX's runtime page asks of its own names: gates, agents, the executor. Ids are those of its acceptance cases. */
import type { Requirement } from './requirement.ts';

const must = (id: string, text: string): Requirement => ({ id, level: 'MUST', text });

export const AGENTICX_NAMES: readonly Requirement[] = [
  must('AX-91', 'What is refused is not done, and the model reads so and goes on.'),
  must('AX-92', 'What nobody asks, or has been answered, cannot be answered.'),
  must('AX-93', 'What is asked outlives its process, and is done once.'),
  must('AX-94', 'Where all is approved nobody is asked, and no event tells of it.'),
  must('AX-96', 'A turn that is stopped asks no more.'),
];
