/**
 * Decides who may act on the thread now: a step of its loop, or its effects (runtime §11: one flow on a thread).
 * Handlers of effects never run at the same time as tools, hooks and models.
 * - If both want the floor they alternate: a due effect waits for the step, and the next step for that one effect. So
 *   either waits at most for one step, or for the maximum time of one effect.
 * F2. A step that only waits, such as for the report of a child, lends the floor, and takes it back before it goes on.
 *     Of calls that are under way together, each lends its part: effects act once all of them only wait.
 * - Checking for the floor and taking it happen without an await in between.
 */
import { condition } from '@temporalio/workflow';

export class Floor {
  readonly #hasWork: () => boolean;
  #step: 'none' | 'acts' | 'lends' | 'wants_back' = 'none';
  /** How many flows of the step act: the step itself, or those of its calls that are under way together. */
  #acting = 0;
  #effects: 'none' | 'want' | 'act' = 'none';
  /** Who had the floor last; the first turn is the step's. */
  #last: 'step' | 'effects' = 'effects';

  /** `hasWork`: whether the loop would take a step. */
  constructor(hasWork: () => boolean) {
    this.#hasWork = hasWork;
  }

  /** True if no effect is running or has the next turn. */
  get isFree(): boolean {
    return this.#effects === 'none' || (this.#effects === 'want' && this.#last === 'effects');
  }

  /** True if the loop's step must wait for an effect. */
  get stepMustWait(): boolean {
    return !this.isFree;
  }

  /** Call right after `stepMustWait` was false. */
  beginStep(): void {
    this.#step = 'acts';
    this.#acting = 1;
    this.#last = 'step';
  }

  endStep(): void {
    this.#step = 'none';
  }

  /** F2: called when the step, or one of its calls that are under way together, begins to wait or is over. */
  lend(): void {
    this.#acting -= 1;
    if (this.#acting === 0) this.#step = 'lends';
  }

  /** F2: called when the wait is over, or a call begins beside others. False if an effect must end first; call again after `awaitEffects`. */
  takeBack(): boolean {
    if (this.#acting === 0) this.#step = 'wants_back';
    if (this.#effects === 'act') return false;
    this.#step = 'acts';
    this.#acting += 1;
    return true;
  }

  /** Resolves when no effect is running. */
  awaitEffects(): Promise<void> {
    return condition(() => this.#effects !== 'act');
  }

  /** True if effects must wait for a step. */
  get effectsMustWait(): boolean {
    return !this.#isEffectsTurn;
  }

  /** Resolves when it is the effects' turn, or `gone` is true. Reserves the next turn for them. */
  awaitTurn(gone: () => boolean): Promise<void> {
    this.#effects = 'want';
    return condition(() => gone() || this.#isEffectsTurn);
  }

  /** Call right after `effectsMustWait` was false. */
  beginEffects(): void {
    this.#effects = 'act';
    this.#last = 'effects';
  }

  endEffects(): void {
    this.#effects = 'none';
  }

  get #isEffectsTurn(): boolean {
    if (this.#step === 'acts') return false;
    // If the last turn was theirs, effects may go on only if no step wants the floor.
    return this.#last === 'step' || !this.#stepIsWanted;
  }

  get #stepIsWanted(): boolean {
    return this.#step === 'none' ? this.#hasWork() : this.#step === 'wants_back';
  }
}
