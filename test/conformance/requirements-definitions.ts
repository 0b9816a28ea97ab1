/** The definitions chapter, by section: what authors write, and how a thread uses it. §19 is in requirements-13.ts. */
import type { Requirement } from './requirement.ts';

type Row = readonly [section: string, level: Requirement['level'], text: string];

const ROWS: readonly Row[] = [
  [
    '2.1',
    'MUST',
    'Folders of a project are read without subfolders, except api; names are those of files or definitions; all problems are reported together.',
  ],
  [
    '4',
    'MUST',
    'A model names its provider; a call that fails is tried three times, then the fallbacks in order; a busy provider without a fallback is asked until the time is over; the first chunk and stalls have timeouts.',
  ],
  ['5.1', 'MUST', 'A provider is created once by its factory, from its configuration.'],
  ['5.2', 'MUST', 'A request carries messages, parts, tools and settings, and its abort signal.'],
  ['5.3', 'MUST', 'An answer has content, tool calls, finish reason, usage and id.'],
  ['5.4', 'MUST', 'A streamed answer arrives in chunks that add up to the same answer and ends with usage.'],
  [
    '5.5',
    'SHOULD',
    'A failure has a code and, if known, status and seconds to wait; its text contains no keys; the size limits of answers are enforced.',
  ],
  ['5.6', 'SHOULD', "A reasoning effort is mapped to the model's nearest level; null turns reasoning off."],
  [
    '5.7',
    'SHOULD',
    'A scripted provider serves tests with text, calls, failures and delays, over the real port.',
  ],
  [
    '6',
    'MUST',
    'A prompt has a name, a tool description, a text and a model; its references exist, and its fields have defaults.',
  ],
  ['6.1', 'SHOULD', 'Reasoning is stored, sent back to its own prompt, and omitted where excluded.'],
  [
    '6.3',
    'MUST',
    'Tool entries name functions, prompts, agents and provider tools; provider tools are sent as such.',
  ],
  [
    '7',
    'MUST',
    'An agent has a name, a type and sides; its references exist, and contradictory fields are refused.',
  ],
  [
    '7.1',
    'MUST',
    'A side has its prompt, stop rules and session tools; a binding is a name or an object, and missing files fail the call.',
  ],
  [
    '8',
    'MUST',
    'A tool has a description, an object schema that validates arguments, and a body; a result keeps its error fields; provider-executed tools never run here.',
  ],
  ['9', 'MUST', 'Twelve hooks run at their points, in list order, each with the result of the previous one.'],
  [
    '10',
    'MUST',
    'Effects are scheduled with arguments, run when due, never earlier and at least once, can be listed and removed while they wait, and end with their thread.',
  ],
  [
    '11',
    'MUST',
    'Endpoints are matched by file, method and path: static before dynamic before catch-all, with the thread available.',
  ],
  [
    '12.2',
    'MUST',
    'A request is assembled in a fixed order; calls and results are paired whatever hooks return.',
  ],
  [
    '12.3',
    'MUST',
    'Side A speaks as assistant and side B as user; an item queued as one side makes the other side act.',
  ],
  [
    '12.4',
    'MUST',
    'Around a call: after_tool_call_*, before_store_tool_result, files, before_create_message, insert, after_create_message; refused calls count as failures.',
  ],
  [
    '12.5',
    'SHOULD',
    'Stops are evaluated in the order of the contract; the end of a turn stops the execution or passes the turn to the other side.',
  ],
  [
    '12.6',
    'MUST',
    'A prompt used as a tool is one step with its calls; its result is composed as its entry defines.',
  ],
  ['12.7', 'MUST', 'A call of an ai_human agent hands the thread over after the step.'],
  ['13.1', 'MUST', 'A subagent entry defines how arguments become first message, files and name.'],
  [
    '13.2',
    'MUST',
    'Blocking and resumable give four kinds of children; they decide what the call returns and what becomes of the child.',
  ],
  [
    '13.3',
    'MUST',
    'A non-resumable agent is a tool; resumable ones are created by subagent_create and messaged by subagent_message; refusals say what to do.',
  ],
  [
    '13.4',
    'SHOULD',
    'A child is created with its arguments, messages and registry entry in one transaction.',
  ],
  [
    '13.6',
    'MUST',
    "A child's report is queued to its parent as a silent message, once, or is the result of the waiting call.",
  ],
  [
    '14.1',
    'MUST',
    'ThreadState and its execution reflect the state when the code starts; arguments are read-only; stop and forceTurn steer the flow.',
  ],
  ['14.2', 'MUST', 'Deleting a message removes files that no other message references.'],
  [
    '14.6',
    'MUST',
    'queueTool runs tools, prompts and handoffs as normal calls; a signal can queue only what the active prompt lists.',
  ],
  ['15.3', 'SHOULD', 'A silent message is sent to the model and omitted from ordinary lists.'],
  ['15.1', 'MUST', 'A message about a subagent shows its current registry entry.'],
  ['15.4', 'MUST', 'Attachments are files of the thread, referenced by path.'],
  [
    '15.5',
    'SHOULD',
    'Recent images are sent to models with image support; older images and other files become text.',
  ],
  ['22.5', 'SHOULD', 'sessionFail is evaluated before sessionStop; each counts only if its call succeeded.'],
  ['22.6', 'SHOULD', 'A stop tool whose call failed does not stop the turn.'],
  [
    '22.7',
    'SHOULD',
    'Without includePastTools a prompt sees only the calls and results of its current execution.',
  ],
  [
    '22.8',
    'SHOULD',
    'A sub-prompt sees only its first message, or the conversation if its prompt includes the chat.',
  ],
  [
    '22.9',
    'SHOULD',
    'Without parallel calls, a provider is asked for one call at a time; calls run in order in any case.',
  ],
  ['22.11', 'SHOULD', 'getMessages returns the newest hundred messages, oldest first, by default.'],
  [
    '22.15',
    'SHOULD',
    '{{key}} in a text is replaced by the argument or context value of that name; without a value it stays as written.',
  ],
  ['22.17', 'SHOULD', 'maxSessionTurns counts the completed turns of both sides.'],
  [
    '22.18',
    'SHOULD',
    "maxSteps ends the execution when its side would act next, and counts only that side's steps.",
  ],
  [
    '22.25',
    'SHOULD',
    "A hook's failure is logged and the chain continues; only injectMessage is rejected by before_create_message.",
  ],
  ['22.26', 'SHOULD', 'prefilter_llm_history may refuse a request: the execution ends with hook_blocked.'],
  ['22.40', 'SHOULD', 'The first drained row decides which side acts; all drained rows become history.'],
  ['22.41', 'SHOULD', "A silent message is part of the model's context."],
  ['22.43', 'SHOULD', "A prompt's hooks replace the agent's; an empty list inherits them."],
  [
    '22.44',
    'SHOULD',
    'A failed session tool stops nothing in its step and suppresses the stop tool, but no limit.',
  ],
];

export const DEFINITIONS: readonly Requirement[] = ROWS.map(([section, level, text]) => ({
  id: `definitions ${section}`,
  level,
  text,
}));
