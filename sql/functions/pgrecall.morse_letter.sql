-- The letter that a group of dots and dashes stands for; null for none.
create or replace function pgrecall.morse_letter(code text) returns text
language sql immutable parallel safe
return chr(96 + array_position(
    string_to_array('.- -... -.-. -.. . ..-. --. .... .. .--- -.- .-.. -- -. --- .--. --.- .-. ... - ..- ...- .-- -..- -.-- --..', ' '), code));
