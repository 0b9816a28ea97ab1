/**
 * The definitions of Standard Agents, section by section: how what they leave open is read here, and where the runtime
 * does something else. `§22.n` are ambiguities between the texts; those that other lines settle are not repeated.
 */
import { differs, type PageLine, reads } from './page-line.ts';
import { AMBIGUITY_LINES } from './page-lines-ambiguities.ts';

export const DEFINITIONS_LINES: readonly PageLine[] = [
  reads(
    '§2.1: files without a definition',
    'they are helpers, except in `agents` and `api`, where they are problems; names that begin with `_` are skipped everywhere',
    'definitions 2.1',
  ),
  differs(
    '§2.2: packed agents',
    'they are not supported: `everthread validate` names the folder `agents/packed`. Their contents can be copied into the project',
  ),
  differs(
    '§3: required variables are available when a thread is created',
    'they are checked before each execution begins, so that they can be set for a thread that exists; the thread is `failed` until then, and names the missing ones',
  ),
  reads(
    '§3, §6.2: no secrets in prompt text',
    'an `env` part of a variable that is declared secret is refused when the project is loaded; one that is stored as secret shows `[secret NAME]`',
    'definitions 6.2',
  ),
  reads(
    '§4: fallbacks',
    'a model is tried three times, a minute of `retry-after` at most, then each fallback in the same way; a refusal for length is sent again smaller first, and a provider that is busy is left for the fallback after two refusals, or waited for if there is none',
    'definitions 4',
  ),
  reads(
    '§4: timeouts of a request',
    '120 seconds to the first chunk, 60 between chunks, 600 in all, unless the model sets its own; the answer of an untrusted server must end some time',
    'definitions 4',
    'definitions 5.5',
  ),
  reads(
    '§6: exposeAsTool of a prompt, tenvs',
    'deprecated names are accepted with a warning; every prompt can be called',
    'definitions 6',
  ),
  reads(
    '§6.2: include',
    'a missing prompt and a cycle are problems of the project; at run time a missing one leaves a placeholder (§22.16)',
    'definitions 6.2',
  ),
  reads(
    '§7.1: files of a session tool',
    'if one is missing, the call fails and the session goes on, so that the model can correct it',
    'definitions 7.1',
  ),
  reads(
    '§8: schemas of arguments',
    'the listed kinds of zod 4, and `any`, seven levels deep; others are problems of the project',
    'definitions 8',
  ),
  reads(
    '§8: result',
    'a text above 4 MiB is cut and kept whole as a file; attachments that cannot be stored leave the result a success that says so',
    'definitions 8',
    'definitions 15.4',
  ),
  reads(
    '§9: hooks',
    'those with a higher `priority` first, then in list order; 30 seconds each. `before_tool_call`, `on_compaction` and `on_agent_end` are additions. Messages that the runtime writes itself (a stopped text, an unknown outcome) run none',
    'definitions 9',
  ),
  reads(
    '§10: effects',
    'at least once: again if the worker was lost, not after an error. A handler has five minutes, and arguments are checked when it runs (§22.27)',
    'definitions 10',
  ),
  reads(
    '§11: precedence of routes',
    "decided segment by segment from the left, among the routes of the request's method. `everthread api` prefers its own routes under the same address",
    'definitions 11',
  ),
  differs('§11: defineController', 'it throws: it belongs to no thread; use the routes of your own server'),
  reads(
    '§12.4: an answer that calls an unknown tool',
    'an error result; an answer without text and calls ends the turn, and repeated failures are what the guard `failures` is for',
    'definitions 12.4',
  ),
  reads(
    '§12.6: a sub-prompt with failed calls',
    'its result is an error that also holds the other parts, since its own model never sees the failure; with `includeErrors: false` nothing tells. Eight levels at most',
    'definitions 12.6',
  ),
  reads(
    '§12.6: a sub-prompt without a first message',
    "its model gets the call's arguments as JSON, since some providers refuse a request without a message",
    'definitions 12.6',
  ),
  reads(
    '§12.7: two handoffs in one step',
    'the last one wins, and the input of the other is dropped',
    'definitions 12.7',
  ),
  reads(
    '§13.3: send_to_agent, the legacy name of subagent_message',
    'it does not exist: no definition of 0.1.0 names it',
  ),
  reads(
    '§14.2, §15: messages that were superseded',
    'an extension: no text of 0.1.0 has edits and regenerations. Such messages are in no reading of the standard; only `getMessages({ superseded: true })` has them, with the status `superseded`. An edited message keeps its id and has `metadata.revision`',
  ),
  reads(
    '§15.4: paths of new attachments',
    '`/attachments/<id>.<extension>`, at most 20 of a message; the name is a label and never part of a path',
    'definitions 15.4',
  ),
  reads(
    '§15.5: images',
    'they are stored and sent as they are, never re-encoded: an image of more than 20 MiB in a request is a line of text',
    'definitions 15.5',
  ),
  reads(
    '§18: findFiles, grepFiles',
    '100 files, 1,000 lines of each and ten seconds at most',
    'definitions 18',
    'definitions 22.29',
  ),
  ...AMBIGUITY_LINES,
];
