-- By what one knows a text that talks about attacks on language models rather than making one.
create or replace function pgrecall.discussion_words() returns text
language sql immutable parallel safe
return '\m(prompt.?injections?|attackers?|jailbreak (attempt|was|is)|malicious (payload|document|input)|phishing|owasp|red.?team|'
    'pen(etration)? test|guardrails?|classifier|injection.scanner|mitigations?|our (filter|renderer|scanner)|researchers|'
    'incident \d|findings?|lesson learned)\M|инъекци|злоумышленник|фишинг';
