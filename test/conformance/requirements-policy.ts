/** What the Protolink runtime page requires of policy and actions; ids are those of its acceptance cases. */
import type { Requirement } from './requirement.ts';

export const POLICY: readonly Requirement[] = [
  {
    id: 'PL-04',
    level: 'MUST',
    text: 'An approval that the policy requires is required even if the context of the run allows the action.',
  },
  {
    id: 'PL-05',
    level: 'MUST',
    text: 'The most specific rule of a set wins, the strictest decision across sets and capabilities; the decision names effect, matches and sources.',
  },
  {
    id: 'PL-06',
    level: 'MUST',
    text: 'A denied call never starts, however it was made: no side effect, and an error for the caller.',
  },
  {
    id: 'PL-07',
    level: 'MUST',
    text: 'If an approval is needed and nobody can be asked, the call is not made, and the error says so.',
  },
  {
    id: 'PL-08',
    level: 'MUST',
    text: 'An approval covers what was shown: an answer for anything else is ignored, and a changed action asks again.',
  },
  {
    id: 'PL-09',
    level: 'MUST',
    text: 'An action that waits for approval survives the loss of its worker and runs once.',
  },
  {
    id: 'PL-09a',
    level: 'MAY',
    text: 'Extension: an approval may change the arguments of its call, or be granted for further calls; neither lets anything run that was not shown or not granted.',
  },
  {
    id: 'PL-10',
    level: 'MUST',
    text: 'A rejected action is not run, and the reason of the rejection is reported.',
  },
  {
    id: 'PL-11',
    level: 'MUST',
    text: 'A tool shows what a call would do before it is judged; artifacts name their action, and no declared capability is lost.',
  },
  {
    id: 'PL-25',
    level: 'MUST',
    text: 'A completed action is stored once, whatever follows it, and is never run again.',
  },
  {
    id: 'PL-26',
    level: 'MUST',
    text: 'A call that had started when its worker was lost is uncertain and is not run again; a person reconciles it.',
  },
];
