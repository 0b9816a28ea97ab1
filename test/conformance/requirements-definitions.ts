/** The definitions chapter, by section: what authors write, and how a thread uses it. §19 is in requirements-13.ts. */
import type { Requirement } from './requirement.ts';

type Row = readonly [section: string, level: Requirement['level'], text: string];

const ROWS: readonly Row[] = [
  [
    '2.1',
    'MUST',
    'A folder of a project is read flat, api alone with its folders; names are those of files or of definitions; every problem is told at once.',
  ],
  [
    '4',
    'MUST',
    'A model names its provider; a call is tried three times, then the fallbacks are, in order; a first word and a stall have their time.',
  ],
  ['5.1', 'MUST', 'A provider is made once by its factory, from what it is configured with.'],
  ['5.2', 'MUST', 'A request carries messages, parts, tools and settings, and its abort signal.'],
  ['5.3', 'MUST', 'An answer has content, calls, the reason of its end, usage and id.'],
  ['5.4', 'MUST', 'A streamed answer comes in chunks that make the same answer, and ends with usage.'],
  [
    '5.5',
    'SHOULD',
    'A failure has a code and, where known, status and seconds to wait; keys are never in its text; the caps of an answer hold.',
  ],
  [
    '5.6',
    'SHOULD',
    "An effort of reasoning becomes the model's own word for the nearest level; null turns it off.",
  ],
  [
    '5.7',
    'SHOULD',
    'A scripted provider answers tests: text, calls, failures and waits, over the real port.',
  ],
  [
    '6',
    'MUST',
    'A prompt has a name, a description as a tool, a text and a model; what it names exists, and its fields have defaults.',
  ],
  ['6.1', 'SHOULD', 'Reasoning is kept, sent again to its own prompt, and left out where excluded.'],
  [
    '6.3',
    'MUST',
    "Entries of tools name functions, prompts, agents and tools of the model's provider, which are sent as such.",
  ],
  [
    '7',
    'MUST',
    'An agent has a name, a type and its sides; what it names exists, and what it cannot mean is refused.',
  ],
  [
    '7.1',
    'MUST',
    'A side has its prompt, stop rules and session tools; a binding is a name or an object, and files that are not there fail the call.',
  ],
  [
    '8',
    'MUST',
    'A tool has a description, an object schema that arguments pass, and a body; a result keeps what it says of its error; one that the provider runs never runs here.',
  ],
  ['9', 'MUST', 'Twelve hooks fire at their points, in list order, each with the result of the one before.'],
  [
    '10',
    'MUST',
    'Effects are scheduled with their arguments, fire once due and never before, are listed and removed while they wait, and end with their thread.',
  ],
  [
    '11',
    'MUST',
    'Endpoints answer by file, method and path: static before dynamic before catch-all, with the thread at hand.',
  ],
  [
    '12.2',
    'MUST',
    'A request is assembled in order, and calls and results are paired whatever its hooks return.',
  ],
  [
    '12.3',
    'MUST',
    'Side A speaks as the assistant and side B as the user; what is queued as one of them makes the other act.',
  ],
  [
    '12.4',
    'MUST',
    'Around a call: after_tool_call_*, before_store_tool_result, files, before_create_message, insert, after_create_message; refused calls are failures.',
  ],
  [
    '12.5',
    'SHOULD',
    'Stops are evaluated in the order of the contract; a turn that ends stops an execution, or gives the turn to the other side.',
  ],
  [
    '12.6',
    'MUST',
    'A prompt as a tool is one step with its calls; its result is composed as its entry says.',
  ],
  ['12.7', 'MUST', 'A call of an ai_human agent hands the thread over after the step.'],
  ['13.1', 'MUST', 'An entry of a subagent says how its arguments become first message, files and name.'],
  [
    '13.2',
    'MUST',
    'Blocking and resumable make four kinds of children: what the call answers, and what becomes of the child.',
  ],
  [
    '13.3',
    'MUST',
    'A non-resumable agent is a tool, resumable ones are made by subagent_create and told by subagent_message; refusals say what to do.',
  ],
  [
    '13.4',
    'SHOULD',
    'A child is made with its arguments, its messages and its place in the registry, in one go.',
  ],
  [
    '13.6',
    'MUST',
    'What a child reports is queued to its parent as a silent message, once, or is the result of the call that waits.',
  ],
  [
    '14.1',
    'MUST',
    'The properties of ThreadState and of its execution say what is so as the code begins; arguments are read-only; stop and forceTurn steer.',
  ],
  ['14.2', 'MUST', 'Deleting a message removes the files that no other message names.'],
  [
    '14.6',
    'MUST',
    'queueTool runs tools, prompts and handoffs as normal calls; a signal only what the active prompt lists.',
  ],
  ['15.3', 'SHOULD', 'A silent message is told to the model and left out of ordinary lists.'],
  ['15.1', 'MUST', 'A message about a subagent tells of it what the registry has, as of now.'],
  ['15.4', 'MUST', 'Attachments are files of the thread, named by their paths.'],
  [
    '15.5',
    'SHOULD',
    'Recent images go to models with image support; older ones, and other files, become text.',
  ],
  [
    '22.5',
    'SHOULD',
    'sessionFail is looked at before sessionStop, and either counts only where its call succeeded.',
  ],
  ['22.6', 'SHOULD', 'A stop tool whose call failed stops nothing.'],
  [
    '22.7',
    'SHOULD',
    "Without includePastTools a prompt sees its current execution's calls and results alone.",
  ],
  [
    '22.8',
    'SHOULD',
    'A sub-prompt sees its first message alone, and the conversation where its prompt includes the chat.',
  ],
  [
    '22.9',
    'SHOULD',
    'Where calls are not parallel, a provider is asked for one at a time; they run in order in any case.',
  ],
  ['22.11', 'SHOULD', 'getMessages answers the newest hundred, oldest first, unless it is asked otherwise.'],
  [
    '22.15',
    'SHOULD',
    '{{key}} in a text is the argument or context value of that name; what has no value stays as it is written.',
  ],
  ['22.17', 'SHOULD', 'maxSessionTurns counts the completed turns of both sides.'],
  [
    '22.18',
    'SHOULD',
    'maxSteps ends the execution of the side that would act next, and counts that side alone.',
  ],
  [
    '22.25',
    'SHOULD',
    "A hook's failure is logged and the chain continues; only injectMessage is rejected by before_create_message.",
  ],
  ['22.26', 'SHOULD', 'prefilter_llm_history may refuse a request: the execution ends with hook_blocked.'],
  ['22.40', 'SHOULD', 'The first of the drained rows decides which side acts; all of them become history.'],
  ['22.41', 'SHOULD', 'A silent message is part of the context of a model.'],
  ['22.43', 'SHOULD', "A prompt's hooks replace the agent's; an empty list falls through."],
  [
    '22.44',
    'SHOULD',
    'A session tool that failed stops nothing in its step, and holds the stop tool back, but no limit.',
  ],
];

export const DEFINITIONS: readonly Requirement[] = ROWS.map(([section, level, text]) => ({
  id: `definitions ${section}`,
  level,
  text,
}));
