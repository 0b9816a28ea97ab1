/** What AgenticX's page requires of histories and of calls in an answer; ids are those of its acceptance cases. */
import type { Requirement } from './requirement.ts';

export const HYGIENE: readonly Requirement[] = [
  { id: 'AX-10', level: 'MUST', text: 'A result without its call is not sent.' },
  {
    id: 'AX-11',
    level: 'MUST',
    text: 'A call without a result does not break the history, and the text beside it is kept.',
  },
  { id: 'AX-12', level: 'MUST', text: 'If one result of a batch is missing, the others are kept.' },
  { id: 'AX-13', level: 'MUST', text: 'Messages in between never separate a call from its result.' },
  {
    id: 'AX-14',
    level: 'MUST',
    text: 'Sanitising is idempotent, whatever the history.',
  },
  { id: 'AX-15', level: 'MUST', text: 'A key that the contract does not define never reaches a provider.' },
  {
    id: 'AX-45',
    level: 'MUST',
    text: 'A call without a name, or named `none`, is never made, and no event has that name.',
  },
  { id: 'AX-46', level: 'MUST', text: 'Arguments that are wrapped in other text are extracted and used.' },
  {
    id: 'AX-47',
    level: 'MUST',
    text: 'A call whose arguments cannot be parsed is not run without them: the model gets an error that corrects it.',
  },
  {
    id: 'AX-48',
    level: 'MUST',
    text: 'Interleaved fragments of two calls make two calls, in their order.',
  },
  { id: 'AX-49', level: 'MUST', text: 'A call without an id gets an id that is the same on replay.' },
  { id: 'AX-50', level: 'MUST', text: 'An argument that looks like an id of the runtime reaches its tool.' },
  { id: 'AX-52', level: 'MUST', text: 'A call in its tag is run.' },
  { id: 'AX-53', level: 'MUST', text: 'A text that consists of one call is that call, with its arguments.' },
  {
    id: 'AX-54',
    level: 'MUST',
    text: 'Text that looks like a call to a tool that was not offered stays text.',
  },
  { id: 'AX-55', level: 'MUST', text: 'If an answer has calls, its text contains none of them.' },
  { id: 'AX-56', level: 'MUST', text: 'A bracket within an argument does not end a call.' },
  { id: 'AX-57', level: 'MUST', text: 'A sentence that mentions a tool does not run it.' },
  {
    id: 'AX-60',
    level: 'MUST',
    text: 'A call that a hook blocks is not run, and the model reads the reason.',
  },
  { id: 'AX-61', level: 'MUST', text: 'A call of an unknown tool is refused, and the calls after it run.' },
  {
    id: 'AX-62',
    level: 'MUST',
    text: 'Every named call of a batch has its result, in order, whatever the outcome of the others.',
  },
  {
    id: 'AX-63',
    level: 'MUST',
    text: 'A denied call is denied before any hook runs or any person is asked.',
  },
  {
    id: 'AX-64',
    level: 'MUST',
    text: 'However a turn ends, every call has its result, and the next turn works.',
  },
  {
    id: 'AX-67',
    level: 'MUST',
    text: 'A call of a subagent tool in a prompt without subagents is an error, and the turn continues.',
  },
];
