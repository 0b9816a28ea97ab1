/**
 * A gate: the stages that every call of a kind passes, in order. A stage is one function. It returns `go` with what it
 * adds to the known data of the call, or `end` with the value that ends the gate: a result for the model, the end of a
 * step or of an execution.
 * - What a model, a user or a hook can cause is a value. A stage throws only if the work is aborted or a port fails;
 *   then the whole activity is retried.
 * - A stage receives what earlier stages have added. Its type states what it needs, so it cannot be placed too early.
 */
export type Verdict<Added, End> =
  | { readonly kind: 'go'; readonly added: Added }
  | { readonly kind: 'end'; readonly end: End };

export type Stage<Ports, Known, Added, End> = (
  ports: Ports,
  known: Known,
) => Verdict<Added, End> | Promise<Verdict<Added, End>>;

export type Passed<Known, End> =
  | { readonly kind: 'go'; readonly known: Known }
  | { readonly kind: 'end'; readonly end: End };

export interface Gate<Ports, Call, Known, End> {
  /** Returns the gate with one more stage at its end. */
  stage<Added>(stage: Stage<Ports, Known, Added, End>): Gate<Ports, Call, Known & Added, End>;
  pass(ports: Ports, call: Call): Promise<Passed<Known, End>>;
}

/** Added by a stage that only checks. */
export type Nothing = Readonly<Record<never, never>>;

export function go(): Verdict<Nothing, never>;
export function go<const Added>(added: Added): Verdict<Added, never>;
export function go(added: object = {}): Verdict<object, never> {
  return { kind: 'go', added };
}

export function end<const End>(value: End): Verdict<never, End> {
  return { kind: 'end', end: value };
}

/** A gate without stages: everything passes. */
export function openGate<Ports, Call, End>(): Gate<Ports, Call, Call, End> {
  return gateOf<Ports, Call, Call, End>(async (_ports, known) => ({ kind: 'go', known }));
}

type Pass<Ports, Call, Known, End> = (ports: Ports, call: Call) => Promise<Passed<Known, End>>;

function gateOf<Ports, Call, Known, End>(pass: Pass<Ports, Call, Known, End>): Gate<Ports, Call, Known, End> {
  return {
    pass,
    stage: <Added>(stage: Stage<Ports, Known, Added, End>) =>
      gateOf<Ports, Call, Known & Added, End>(async (ports, call) => {
        const before = await pass(ports, call);
        if (before.kind === 'end') return before;
        const verdict = await stage(ports, before.known);
        if (verdict.kind === 'end') return verdict;
        return { kind: 'go', known: { ...before.known, ...verdict.added } };
      }),
  };
}
