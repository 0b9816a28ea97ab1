/**
 * Who acts on the thread now: its loop with a step, or its effects (runtime §11: one flow on a thread). Handlers of effects and of
 * tools, hooks and models never run at once.
 * F1. Where both want the floor they alternate: an effect that is due waits for the step, and the next step for that effect and no
 *     other. So the wait is that for one step, or for the time that one effect may take.
 * F2. A step that only waits, for the report of a child, lends the floor, and has it back before it goes on.
 * F3. Early versions ran effects beside steps, and what they did is replayed as it was: only where one finds the other at work,
 *     `patched` is asked. Nothing here delays who finds the floor free: the order of commands is as it was.
 * F4. The floor is asked for and taken without an await in between.
 */
import { condition, patched } from '@temporalio/workflow';

const TAKES_TURNS = 'effects-take-turns';

export class Floor {
  readonly #hasWork: () => boolean;
  #step: 'none' | 'acts' | 'lends' | 'wants_back' = 'none';
  #effects: 'none' | 'want' | 'act' = 'none';
  /** F1: at first it is the step's turn. */
  #last: 'step' | 'effects' = 'effects';

  /** Whether the loop would take a step. */
  constructor(hasWork: () => boolean) {
    this.#hasWork = hasWork;
  }

  /** F1: of an effect that runs, or has the next turn. */
  get isFree(): boolean {
    return this.#effects === 'none' || (this.#effects === 'want' && this.#last === 'effects');
  }

  /** F3: asked by the loop, and answered as history has it. */
  get stepMustWait(): boolean {
    return !this.isFree && patched(TAKES_TURNS);
  }

  /** F4: right after `stepMustWait` has said no. */
  beginStep(): void {
    this.#step = 'acts';
    this.#last = 'step';
  }

  endStep(): void {
    this.#step = 'none';
  }

  /** F2: the step waits. */
  lend(): void {
    this.#step = 'lends';
  }

  /** F2: the wait is over. False where an effect has to end first; ask again then. */
  takeBack(): boolean {
    this.#step = 'wants_back';
    if (this.#effects === 'act' && patched(TAKES_TURNS)) return false;
    this.#step = 'acts';
    return true;
  }

  /** Until no effect runs. */
  awaitEffects(): Promise<void> {
    return condition(() => this.#effects !== 'act');
  }

  /** F3: asked for the effects. */
  get effectsMustWait(): boolean {
    return !this.#isTheirTurn && patched(TAKES_TURNS);
  }

  /** Until it is the effects' turn, or `gone`. From now on the loop leaves it to them (F1). */
  awaitTurn(gone: () => boolean): Promise<void> {
    this.#effects = 'want';
    return condition(() => gone() || this.#isTheirTurn);
  }

  /** F4: right after `effectsMustWait` has said no. */
  beginEffects(): void {
    this.#effects = 'act';
    this.#last = 'effects';
  }

  endEffects(): void {
    this.#effects = 'none';
  }

  get #isTheirTurn(): boolean {
    if (this.#step === 'acts') return false;
    // F1: they had theirs.
    return this.#last === 'step' || !this.#stepIsWanted;
  }

  get #stepIsWanted(): boolean {
    return this.#step === 'none' ? this.#hasWork() : this.#step === 'wants_back';
  }
}
