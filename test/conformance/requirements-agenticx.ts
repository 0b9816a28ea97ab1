/** What AgenticX's page requires of its names: gates, agents, the executor. Ids are those of its acceptance cases. */
import type { Requirement } from './requirement.ts';

const must = (id: string, text: string): Requirement => ({ id, level: 'MUST', text });

export const AGENTICX_NAMES: readonly Requirement[] = [
  must(
    'AX-07',
    'A worker killed within a round changes nothing in how the turn ends and repeats no side effect.',
  ),
  must('AX-65', 'If a worker is lost after the side effect of a call, the call is not run again.'),
  must('AX-80', 'Event numbers increase without gaps, whoever writes the events.'),
  must('AX-91', 'A rejected call is not run; the model reads so and continues.'),
  must('AX-92', 'A question that does not exist or was answered already cannot be answered.'),
  must('AX-93', 'A question outlives its process, and its call runs once.'),
  must('AX-94', 'If everything is approved in advance, nobody is asked and no event is emitted.'),
  must('AX-96', 'A stopped turn asks no further question.'),
  must('AX-95', 'A question without an answer in time is rejected.'),
  must('AX-97', 'An answer that arrives while no worker runs is not lost.'),
  must(
    'AX-98',
    'What changed while an approval was pending is not overwritten: it is shown, and asked again.',
  ),
  must('AX-102', 'A replay makes the same decisions as the original run, whatever its environment.'),
  must('AX-123', 'Whatever ends the work of a thread ends the work of its subagents.'),
  must('AX-124', 'A worker killed while a subagent works leaves one child and one report.'),
  must('AX-125', 'A subagent that exceeds its timeout fails, and the caller reads why.'),
  must('AX-126', 'A message to a working subagent is seen at its next step.'),
  must('AX-127', 'A subagent has only the tools of its own prompt; an unknown name is refused.'),
  must('AX-130', 'An agent has defaults.'),
  must('AX-131', 'An unknown field of an agent is refused by name.'),
  must('AX-132', "An agent's own limit applies to its turns."),
  must('AX-140', 'A finished task succeeds, with its log and statistics.'),
  must('AX-141', 'A task that a guardrail stops fails and says why.'),
  must('AX-142', 'Guardrails change the output one after the other, up to their limit.'),
  must('AX-143', 'A task waits for the person that its model asks, and continues in another process.'),
  must('AX-144', 'Three failed calls in a row ask a person for help; a success resets the count.'),
  must(
    'AX-145',
    'Concurrent calls return in their order; a failure stops no other call, and concurrency is limited.',
  ),
  must('AX-146', 'A task that never finishes fails.'),
];
