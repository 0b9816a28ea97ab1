/** Ambiguities between the texts of Standard Agents (§22 of the definitions) that no other line of the page settles. */
import { type PageLine, reads } from './page-line.ts';

export const AMBIGUITY_LINES: readonly PageLine[] = [
  reads('§22.1: 0.1.0 or 0.2.0', '0.1.0; names of 0.2.0 are refused with the alternative'),
  reads('§22.3: the default of blocking', '`true`, as 0.1.0 has it', 'definitions 13.2'),
  reads(
    '§22.4: session tools as text, object or under old names',
    'all three; the old names with a warning',
    'definitions 7.1',
  ),
  reads(
    '§22.7, §22.8: includeChat and includePastTools are false',
    'what began the execution and what it has done so far is always sent: a model must see the result of the call that it has just made',
    'definitions 22.7',
    'definitions 22.8',
  ),
  reads(
    '§22.9: parallelToolCalls',
    '`false` is sent to providers that support it; calls run one after another in any case',
    'definitions 22.9',
  ),
  reads(
    '§22.14: providerOptions of a prompt',
    "merged over the model's, key by key at the first level",
    'definitions 4',
  ),
  reads(
    '§22.20: the schema of the arguments of a child',
    "that of the prompt that receives the parent's messages; side A for an agent that is not resumable",
    'definitions 13.3',
  ),
  reads(
    '§22.21: children that are not resumable',
    'not in `state.children`; `getChildThread` finds them, also after their end, to be read',
    'threadstate hierarchy',
  ),
  reads(
    '§22.22: a child reaches maxSessionTurns',
    'a failure that names the limit, with the last output',
    'runtime 8.2',
  ),
  reads(
    '§22.24: the side that hears a report',
    'side A with one AI side, and of two the side that has called the child: the other one knows nothing of it',
    'runtime 4',
  ),
  reads(
    '§22.25, §22.26: failures of hooks',
    'logged, and the chain goes on with the last value; exceptions are `before_create_message` under `injectMessage`, a block by `prefilter_llm_history`, and `before_tool_call`, which refuses the call',
    'definitions 22.25',
    'definitions 22.26',
  ),
  reads(
    '§22.29: the pattern of grepFiles',
    'a regular expression, or literal text if it is not a valid one; lines and their numbers are returned',
    'definitions 22.29',
  ),
  reads(
    '§22.30, §22.31: syntax errors; arguments for what is not a function',
    '`link_error` with line and column; `error`',
    'runtime 13.9.14',
    'runtime 13.5.6',
  ),
  reads('§22.37: the shape of defineEffect', 'positional, and as an object', 'definitions 10'),
  reads(
    '§22.39: a dual_ai agent named without a configuration',
    'a subagent that blocks and is not resumable',
    'definitions 13.3',
  ),
  reads(
    '§22.40: queued messages of different roles',
    'of two AI sides the first message decides who acts; with one, any message of a user asks for an answer',
    'definitions 22.40',
  ),
  reads(
    '§22.43: an empty list of hooks',
    "inherits the agent's, as the fields of a prompt do that are absent",
    'definitions 22.43',
  ),
  reads(
    '§22.45: a bootstrap request is answered twice',
    'the same values again are a duplicate; others are refused, since the child exists',
    'runtime 7.5',
  ),
  reads('§22.46: uses is absent', 'the tool may reach everything', 'definitions 14.6'),
];
