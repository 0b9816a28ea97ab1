/** What AgenticX's page requires of its names: gates, agents, the executor. Ids are those of its acceptance cases. */
import type { Requirement } from './requirement.ts';

const must = (id: string, text: string): Requirement => ({ id, level: 'MUST', text });

export const AGENTICX_NAMES: readonly Requirement[] = [
  must(
    'AX-07',
    'A worker that is killed within a round changes nothing of how its turn ends, and repeats no effect.',
  ),
  must('AX-65', 'A worker that is lost behind the effect of a call does not make it again.'),
  must('AX-80', 'The numbers of events rise without a gap, whoever writes them.'),
  must('AX-91', 'What is refused is not done, and the model reads so and goes on.'),
  must('AX-92', 'What nobody asks, or has been answered, cannot be answered.'),
  must('AX-93', 'What is asked outlives its process, and is done once.'),
  must('AX-94', 'Where all is approved nobody is asked, and no event tells of it.'),
  must('AX-96', 'A turn that is stopped asks no more.'),
  must('AX-95', 'What nobody answers in its time is refused.'),
  must('AX-97', 'An answer that came while nobody heard it is not lost.'),
  must('AX-98', 'What has changed while an approval was awaited is not overwritten.'),
  must('AX-102', 'A replay decides as the run that it replays, whatever its environment.'),
  must('AX-123', 'What ends the work of a thread ends that of its subagents.'),
  must('AX-124', 'A worker that is killed while a subagent works leaves one child and one report.'),
  must('AX-125', 'A subagent that takes longer than it may has failed, and who called it reads why.'),
  must('AX-126', 'What is said to a subagent that works is seen at its next step.'),
  must(
    'AX-127',
    'A subagent has the tools of its own prompt and no others; a name that nothing has is refused.',
  ),
  must('AX-130', 'An agent has its defaults.'),
  must('AX-131', 'A field that an agent has not is refused by its name.'),
  must('AX-132', 'Its own limit holds where it has turns.'),
  must('AX-140', 'A task that is finished has succeeded, with its log and its statistics.'),
  must('AX-141', 'What a guide rail stops has not succeeded, and says why.'),
  must('AX-142', 'Guide rails change one after the other what comes out, within their limit.'),
  must('AX-143', 'A task waits for the person that its model asks, and goes on in another process.'),
  must('AX-144', 'Three calls in a row that fail ask a person for help; a success begins the count anew.'),
  must(
    'AX-145',
    'Calls at once come back in their order; one that fails stops no other, and no more run than may.',
  ),
  must('AX-146', 'A task that never ends has not succeeded.'),
];
