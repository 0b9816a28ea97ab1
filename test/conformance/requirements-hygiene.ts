/** What AgenticX's page requires of histories and of calls in an answer; ids are those of its acceptance cases. */
import type { Requirement } from './requirement.ts';

export const HYGIENE: readonly Requirement[] = [
  { id: 'AX-10', level: 'MUST', text: 'A result whose call is not there is not sent.' },
  {
    id: 'AX-11',
    level: 'MUST',
    text: 'A call without a result does not break a history, and the text beside it is kept.',
  },
  { id: 'AX-12', level: 'MUST', text: 'Of a batch that lacks an answer the others are kept.' },
  { id: 'AX-13', level: 'MUST', text: 'Nothing that is said in between separates a call from its result.' },
  {
    id: 'AX-14',
    level: 'MUST',
    text: 'Sanitising what was sanitised changes nothing, whatever the history.',
  },
  { id: 'AX-15', level: 'MUST', text: 'A key that the contract does not know never reaches a provider.' },
  {
    id: 'AX-45',
    level: 'MUST',
    text: 'A call that names nothing, or `none`, is never made, and no event has its name.',
  },
  { id: 'AX-46', level: 'MUST', text: 'Arguments with something around them are run with the arguments.' },
  {
    id: 'AX-47',
    level: 'MUST',
    text: 'A call whose arguments cannot be read is not run with none: the model gets an error that corrects it.',
  },
  {
    id: 'AX-48',
    level: 'MUST',
    text: 'Pieces of two calls that come by turns make two calls, in their order.',
  },
  { id: 'AX-49', level: 'MUST', text: 'A call without an id gets one that is the same after a replay.' },
  { id: 'AX-50', level: 'MUST', text: 'An argument that looks like an id of the runtime reaches its tool.' },
  { id: 'AX-52', level: 'MUST', text: 'A call in its tag is made.' },
  { id: 'AX-53', level: 'MUST', text: 'A text that is one call is one, with its arguments.' },
  { id: 'AX-54', level: 'MUST', text: 'A name that was not offered makes text of what looks like a call.' },
  { id: 'AX-55', level: 'MUST', text: 'Where an answer has calls, its text has none.' },
  { id: 'AX-56', level: 'MUST', text: 'A bracket within an argument does not end a call.' },
  { id: 'AX-57', level: 'MUST', text: 'A sentence that mentions a tool does not run it.' },
  {
    id: 'AX-60',
    level: 'MUST',
    text: 'A call that a hook blocks is not made, and the model reads the reason.',
  },
  { id: 'AX-61', level: 'MUST', text: 'A tool that nobody knows is refused, and the calls behind it run.' },
  {
    id: 'AX-62',
    level: 'MUST',
    text: 'Each call of a batch that names something has its result, in order, whatever the others came to.',
  },
  { id: 'AX-63', level: 'MUST', text: 'What is denied is denied before any hook or person is asked.' },
  {
    id: 'AX-64',
    level: 'MUST',
    text: 'However a turn ends, every call that was made has its result, and the next turn works.',
  },
  {
    id: 'AX-67',
    level: 'MUST',
    text: 'A call of a subagent that there is none for is an error, and the turn goes on.',
  },
];
