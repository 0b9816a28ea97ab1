/** The long form: a program that spends seconds on making its keys. */
import './codec-collision.test.ts';
