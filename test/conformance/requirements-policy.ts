/** What the Protolink runtime page requires of policy and actions; ids are those of its acceptance cases. */
import type { Requirement } from './requirement.ts';

export const POLICY: readonly Requirement[] = [
  {
    id: 'PL-04',
    level: 'MUST',
    text: 'What the policy requires an approval for requires it also where the context of the run allows it.',
  },
  {
    id: 'PL-05',
    level: 'MUST',
    text: 'Of a set the most specific rule holds, over sets and capabilities the strongest; the decision names effect, matches and sources.',
  },
  {
    id: 'PL-06',
    level: 'MUST',
    text: 'A denied call is not begun, by whatever way it comes: no effect, and an error that whoever called reads.',
  },
  {
    id: 'PL-07',
    level: 'MUST',
    text: 'Where an approval is needed and nobody can be asked, nothing of the call is done, and it says so.',
  },
  {
    id: 'PL-08',
    level: 'MUST',
    text: 'An approval is for what was shown: an answer for anything else does not count, and a changed action asks again.',
  },
  {
    id: 'PL-09',
    level: 'MUST',
    text: 'An action that waits for its approval survives the loss of its worker, and is done once.',
  },
  {
    id: 'PL-10',
    level: 'MUST',
    text: 'A refused approval leaves nothing done, and its reason is told.',
  },
  {
    id: 'PL-11',
    level: 'MUST',
    text: 'A tool shows what a call would do before it is judged; artifacts name their action, and no declared capability is lost.',
  },
  {
    id: 'PL-25',
    level: 'MUST',
    text: 'What was done is kept once, whatever comes behind it, and is never done again.',
  },
  {
    id: 'PL-26',
    level: 'MUST',
    text: 'A call that had begun when its worker was lost is uncertain, is not done again, and a person says what became of it.',
  },
];
